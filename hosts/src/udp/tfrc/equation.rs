//! TCP's throughput equation (RFC 5348 section 3.1), with b = 1 and t_RTO = 4 R.

use narrows_common::Duration;

/// Segments per round trip at a loss event rate `p`, above 0 and at most 1.
fn segments_in_round_trip(p: f64) -> f64 {
    let slow = 4.0 * (3.0 * (3.0 * p / 8.0).sqrt()) * p * (1.0 + 32.0 * p * p);
    1.0 / ((2.0 * p / 3.0).sqrt() + slow)
}

/// The rate in bytes per second, with segments of `size_bytes`.
pub(super) fn bytes_per_sec(size_bytes: f64, rtt: Duration, p: f64) -> f64 {
    size_bytes * segments_in_round_trip(p) / rtt.as_secs_f64()
}

/// The loss event rate at which the equation gives this rate, by bisection: within 2^-50.
pub(super) fn loss_event_rate(size_bytes: f64, rtt: Duration, bytes_per_sec: f64) -> f64 {
    let wanted = bytes_per_sec * rtt.as_secs_f64() / size_bytes;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if segments_in_round_trip(middle) > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand for p = 0.01: sqrt(0.02 / 3) = 0.0816497; 3 sqrt(0.03 / 8) = 0.1837117; 12 x
    /// 0.0612372 x 0.01 x 1.0032 = 0.0073720; the sum is 0.0890217, its inverse 11.2332.
    #[test]
    fn tfrc_equation_by_hand() {
        assert!((segments_in_round_trip(0.01) - 11.2332).abs() < 1e-3);
        // p = 1: 0.8164966 + 12 x 0.6123724 x 33 = 243.3160.
        assert!((segments_in_round_trip(1.0) - 1.0 / 243.316_0).abs() < 1e-7);
        // 1,000 bytes and 100 ms.
        let rate = bytes_per_sec(1_000.0, Duration::from_ms(100), 0.01);
        assert!((rate - 112_332.0).abs() < 10.0, "{rate}");
    }

    #[test]
    fn tfrc_equation_inverted() {
        let rtt = Duration::from_ms(100);
        for p in [1e-6, 1e-4, 0.01, 0.1, 0.9] {
            let found = loss_event_rate(1_000.0, rtt, bytes_per_sec(1_000.0, rtt, p));
            assert!((found / p - 1.0).abs() < 1e-6, "{p}: {found}");
        }
        assert_eq!(loss_event_rate(1_000.0, rtt, 0.0), 1.0);
    }
}
