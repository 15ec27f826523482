//! Compares `tests/programs/expressions.p4` with Rust's integers.

use crate::common::{config, port};
use narrows_common::{Packet, Rng, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{Program, Switch, SwitchConfig};
use proptest::prelude::*;
use std::sync::{Arc, OnceLock};

fn program() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let json = include_str!("programs/expressions.json");
    PROGRAM.get_or_init(|| Arc::new(Program::from_json(json).unwrap())).clone()
}

fn small_or_any<T: Arbitrary + Copy + 'static>(special: Vec<T>) -> impl Strategy<Value = T> {
    prop_oneof![prop::sample::select(special), any::<T>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_operator(
        n in 0u32..1 << 19,
        shift in small_or_any(vec![0u8, 1, 63, 64, 65, 127, 128, 255]),
        (a, b) in (small_or_any(vec![0u32, 1, 7, 8, u32::MAX]), small_or_any(vec![0u32, 1, u32::MAX])),
        (c, d) in (small_or_any(vec![0u64, 1, u64::MAX]), small_or_any(vec![0u64, 1, u64::MAX])),
        (e, f) in (small_or_any(vec![0u128, 1, u128::MAX, 1 << 64]), small_or_any(vec![0u128, 1, u128::MAX, 1 << 64])),
        (s, t) in (small_or_any(vec![0i16, -1, -5, -6, i16::MIN, i16::MAX]), small_or_any(vec![0i16, -1, i16::MIN, i16::MAX])),
        same in 0u8..4,
    ) {
        // Make operands equal from time to time.
        let (d, f, t) = if same == 0 { (c, e, s) } else { (d, f, t) };
        let mut bytes = vec![];
        bytes.extend_from_slice(&(0b10101 << 27 | n << 8 | u32::from(shift)).to_be_bytes());
        [a, b].iter().for_each(|operand| bytes.extend_from_slice(&operand.to_be_bytes()));
        [c, d].iter().for_each(|operand| bytes.extend_from_slice(&operand.to_be_bytes()));
        [e, f].iter().for_each(|operand| bytes.extend_from_slice(&operand.to_be_bytes()));
        [s, t].iter().for_each(|operand| bytes.extend_from_slice(&operand.to_be_bytes()));
        let operands = bytes.len();
        let mut expected: Vec<u8> = bytes.clone();
        macro_rules! result {
            ($value:expr) => { expected.extend_from_slice(&$value.to_be_bytes()) };
        }
        let count = u32::from(shift);
        result!(a.wrapping_add(b));
        result!(a.wrapping_sub(b));
        result!(a.wrapping_mul(b));
        result!(c.wrapping_add(d));
        result!(c.wrapping_mul(d));
        result!(e.wrapping_add(f));
        result!(e.wrapping_sub(f));
        result!(e.wrapping_mul(f));
        result!((e & f | e ^ 0x123456789abcdef00fedcba987654321u128));
        result!(e.checked_shl(count).unwrap_or(0));
        result!(e.checked_shr(count).unwrap_or(0));
        result!(!e);
        result!(((e >> 27) as u64));
        result!(a.checked_shl(count).unwrap_or(0));
        result!(c.checked_shr(count).unwrap_or(0));
        result!(s.wrapping_add(t));
        result!((s >> 3));
        result!(s.saturating_add(t));
        result!(s.saturating_sub(t));
        result!(a.saturating_add(b));
        result!(a.saturating_sub(b));
        result!(c.saturating_add(d));
        result!((u64::from(a) << 32 | u64::from(b)));
        result!(i32::from(s));
        result!(c.saturating_sub(d));
        result!(u64::from(n.wrapping_sub(1) & 0x7ffff));
        let bits = |flags: &[bool]| flags.iter().rev().fold(0u8, |all, &flag| all << 1 | u8::from(flag));
        result!(bits(&[c < d, c <= d, c == d, a < b]));
        result!(bits(&[e < f, e >= f, e == f]));
        result!(bits(&[s < t, s >= -5]));
        result!((if a > 7 { a } else { b.wrapping_add(1) }));
        result!((if shift == 0 { e } else { f }));
        bytes.resize(expected.len(), 0xee);
        // The packet also has a payload.
        bytes.extend_from_slice(b"payload");
        expected.extend_from_slice(b"payload");

        let config = SwitchConfig { flow_field: None, ..config(vec![port(2, None, QueueLimit::Packets(0))]) };
        let mut switch = Switch::new(program(), config, Rng::from_seed(1)).unwrap();
        switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&bytes).into());
        let got = switch.poll_transmit().expect("a packet").packet.to_bytes();
        prop_assert_eq!(&got[..operands], &expected[..operands]);
        prop_assert_eq!(&got[operands..], &expected[operands..]);
    }
}
