//! Rates in bytes per second: the bytes sent in a time, and the initial pacing rate. Spans in
//! seconds.

use crate::cc::control::Setup;
use narrows_common::{Duration, PS_PER_S};

/// A span in seconds. A product, as the variants' results rest on its rounding; that of
/// [`Duration::as_secs_f64`], a quotient, can differ in the last bit.
#[inline]
pub(crate) fn secs(span: Duration) -> f64 {
    span.as_ps() as f64 * 1e-12
}

/// `rate` for `span`, rounded down.
pub(crate) fn bytes_in(rate_bytes_per_sec: u64, span: Duration) -> u64 {
    let product = u128::from(rate_bytes_per_sec) * u128::from(span.as_ps());
    u64::try_from(product / u128::from(PS_PER_S)).unwrap_or(u64::MAX)
}

/// `factor` of `value`, rounded down.
pub(crate) fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor) as u64
}

/// The pacing rate before the first sample: `gain` times the initial window per handshake round
/// trip, or per 1 ms without one.
pub(crate) fn initial_pacing(setup: &Setup, gain: f64) -> u64 {
    let rtt = setup.handshake_rtt.unwrap_or(Duration::from_ms(1));
    let window = u128::from(setup.initial_window_bytes) * u128::from(PS_PER_S);
    let rate = window / u128::from(rtt.as_ps().max(1));
    scaled(u64::try_from(rate).unwrap_or(u64::MAX), gain)
}
