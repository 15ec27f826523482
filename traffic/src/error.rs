//! Why an application's values are invalid.

use crate::message::HEADER_BYTES;
use core::fmt;
use narrows_common::Duration;

/// A value out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("app {kind}: {key} = {value} is out of range; expected {least} to {most}")]
pub struct AppError {
    /// The model.
    pub kind: &'static str,
    /// The plan's key.
    pub key: &'static str,
    /// The value given.
    pub value: String,
    /// The smallest valid value.
    pub least: String,
    /// The largest valid value.
    pub most: String,
}

/// The highest rate, 1 Tb/s: the shortest message then lasts 192 ps, so time advances.
const MOST_BPS: u64 = 1_000_000_000_000;
/// The shortest mean gap.
const LEAST_GAP: Duration = Duration::from_us(1);
/// The longest gap, 11 days.
pub(crate) const MOST_GAP: Duration = Duration::from_secs(1_000_000);

/// Checks that `value` is in `least..=most`.
pub(crate) fn in_range<T: PartialOrd + fmt::Display>(
    kind: &'static str,
    key: &'static str,
    value: T,
    (least, most): (T, T),
) -> Result<(), AppError> {
    if value >= least && value <= most {
        return Ok(());
    }
    let [value, least, most] = [value, least, most].map(|value| value.to_string());
    Err(AppError { kind, key, value, least, most })
}

pub(crate) fn check_size(kind: &'static str, size_bytes: u32) -> Result<(), AppError> {
    check_length(kind, "size_bytes", size_bytes)
}

pub(crate) fn check_length(
    kind: &'static str,
    key: &'static str,
    length_bytes: u32,
) -> Result<(), AppError> {
    in_range(kind, key, length_bytes, (HEADER_BYTES, u32::MAX))
}

pub(crate) fn check_rate(kind: &'static str, rate_bps: u64) -> Result<(), AppError> {
    in_range(kind, "rate_bps", rate_bps, (1, MOST_BPS))
}

pub(crate) fn check_gap(
    kind: &'static str,
    key: &'static str,
    gap: Duration,
) -> Result<(), AppError> {
    in_range(kind, key, gap.as_ps(), (LEAST_GAP.as_ps(), MOST_GAP.as_ps()))
}
