//! Two's complement arithmetic on values of several 64-bit limbs, in place in the slots.

use crate::ir::{Slot, Slots, WideOp, mask};

fn is_negative(slots: &Slots, a: Slot, n: u16) -> bool {
    slots[(a + n - 1) as usize] >> 63 == 1
}

/// Keeps the bits below `bits` of `n` limbs at `d`, and sets all others to `fill`.
fn fill_above(slots: &mut Slots, d: Slot, n: u16, bits: u32, fill: bool) {
    for limb in 0..n {
        let keep = mask(bits.saturating_sub(u32::from(limb) * 64));
        let slot = &mut slots[(d + limb) as usize];
        *slot = *slot & keep | if fill { !keep } else { 0 };
    }
}

fn bit(slots: &Slots, a: Slot, n: u16, bit: u32) -> bool {
    bit < u32::from(n) * 64 && slots[a as usize + (bit / 64) as usize] >> (bit % 64) & 1 == 1
}

fn each(slots: &mut Slots, d: Slot, a: Slot, b: Slot, n: u16, op: impl Fn(u64, u64) -> u64) {
    for limb in 0..n {
        slots[(d + limb) as usize] = op(slots[(a + limb) as usize], slots[(b + limb) as usize]);
    }
}

fn add(slots: &mut Slots, d: Slot, a: Slot, b: Slot, n: u16, subtract: bool) {
    let mut carry = subtract;
    for limb in 0..n {
        let b = slots[(b + limb) as usize];
        let b = if subtract { !b } else { b };
        let (sum, over) = slots[(a + limb) as usize].overflowing_add(b);
        let (sum, more) = sum.overflowing_add(u64::from(carry));
        slots[(d + limb) as usize] = sum;
        carry = over || more;
    }
}

fn multiply(slots: &mut Slots, d: Slot, a: Slot, b: Slot, n: u16) {
    slots[d as usize..(d + n) as usize].fill(0);
    for i in 0..n {
        let mut carry = 0u128;
        for j in 0..n - i {
            let product = u128::from(slots[(a + i) as usize]) * u128::from(slots[(b + j) as usize]);
            let at = (d + i + j) as usize;
            let sum = u128::from(slots[at]) + (product & u128::from(u64::MAX)) + carry;
            slots[at] = sum as u64;
            carry = (sum >> 64) + (product >> 64);
        }
    }
}

fn shift_left(slots: &mut Slots, d: Slot, a: Slot, count: u64, n: u16) {
    let (limbs, bits) = (count / 64, count % 64);
    for limb in (0..u64::from(n)).rev() {
        let at = |i: Option<u64>| i.map_or(0, |i| slots[a as usize + i as usize]);
        let low = limb.checked_sub(limbs);
        let below = low.and_then(|low| low.checked_sub(1));
        let value = at(low) << bits | if bits == 0 { 0 } else { at(below) >> (64 - bits) };
        slots[d as usize + limb as usize] = value;
    }
}

fn shift_right(slots: &mut Slots, d: Slot, a: Slot, count: u64, n: u16) {
    let fill = if is_negative(slots, a, n) { u64::MAX } else { 0 };
    let (limbs, bits) = (count / 64, count % 64);
    for limb in 0..u64::from(n) {
        let at = |i: Option<u64>| match i {
            Some(i) if i < u64::from(n) => slots[a as usize + i as usize],
            _ => fill,
        };
        let low = limb.checked_add(limbs);
        let above = low.and_then(|low| low.checked_add(1));
        let value = at(low) >> bits | if bits == 0 { 0 } else { at(above) << (64 - bits) };
        slots[d as usize + limb as usize] = value;
    }
}

/// Long division bit by bit; P4 programs seldom need it.
fn divide(slots: &mut Slots, d: Slot, a: Slot, b: Slot, n: u16, remainder: bool) {
    let read = |at: Slot| slots[at as usize..(at + n) as usize].to_vec();
    let (numerator, divisor) = (read(a), read(b));
    let (mut quotient, mut rest) = (vec![0u64; n as usize], vec![0u64; n as usize]);
    if divisor.iter().any(|&limb| limb != 0) {
        for bit in (0..n as usize * 64).rev() {
            let mut carry = numerator[bit / 64] >> (bit % 64) & 1;
            for limb in &mut rest {
                let next = *limb >> 63;
                *limb = *limb << 1 | carry;
                carry = next;
            }
            if rest.iter().rev().ge(divisor.iter().rev()) {
                let mut borrow = false;
                for (limb, &divisor) in rest.iter_mut().zip(&divisor) {
                    let (difference, under) = limb.overflowing_sub(divisor);
                    let (difference, more) = difference.overflowing_sub(u64::from(borrow));
                    *limb = difference;
                    borrow = under || more;
                }
                quotient[bit / 64] |= 1 << (bit % 64);
            }
        }
    }
    let result = if remainder { rest } else { quotient };
    slots[d as usize..(d + n) as usize].copy_from_slice(&result);
}

fn compare(slots: &Slots, a: Slot, b: Slot, n: u16) -> i64 {
    match (is_negative(slots, a, n), is_negative(slots, b, n)) {
        (true, false) => return -1,
        (false, true) => return 1,
        _ => {}
    }
    for limb in (0..n).rev() {
        let (a, b) = (slots[(a + limb) as usize], slots[(b + limb) as usize]);
        if a != b {
            return if a < b { -1 } else { 1 };
        }
    }
    0
}

/// True if the value at `a` has a bit unlike `sign` at `bits` or above.
fn exceeds(slots: &Slots, a: Slot, n: u16, bits: u32, sign: bool) -> bool {
    (0..n).any(|limb| {
        let keep = mask(bits.saturating_sub(u32::from(limb) * 64));
        let above = slots[(a + limb) as usize] | keep;
        let above_if_zero = slots[(a + limb) as usize] & !keep;
        if sign { above != u64::MAX } else { above_if_zero != 0 }
    })
}

fn copy(slots: &mut Slots, d: Slot, a: Slot, n: u16) {
    slots.copy_within(a as usize..(a + n) as usize, d as usize);
}

pub(crate) fn execute(slots: &mut Slots, op: WideOp) {
    match op {
        WideOp::Extend { d, n, a, from, signed } => {
            let sign = signed && is_negative(slots, a, from);
            copy(slots, d, a, n.min(from));
            for limb in from..n {
                slots[(d + limb) as usize] = if sign { u64::MAX } else { 0 };
            }
        }
        WideOp::Mask { d, n, bits } => fill_above(slots, d, n, bits, false),
        WideOp::SignExtend { d, n, bits } => {
            let sign = bit(slots, d, n, bits - 1);
            fill_above(slots, d, n, bits, sign);
        }
        WideOp::Add { d, a, b, n } => add(slots, d, a, b, n, false),
        WideOp::Sub { d, a, b, n } => add(slots, d, a, b, n, true),
        WideOp::Mul { d, a, b, n } => multiply(slots, d, a, b, n),
        WideOp::And { d, a, b, n } => each(slots, d, a, b, n, |a, b| a & b),
        WideOp::Or { d, a, b, n } => each(slots, d, a, b, n, |a, b| a | b),
        WideOp::Xor { d, a, b, n } => each(slots, d, a, b, n, |a, b| a ^ b),
        WideOp::Not { d, a, n } => each(slots, d, a, a, n, |a, _| !a),
        WideOp::Shl { d, a, b, n } => shift_left(slots, d, a, slots[b as usize], n),
        WideOp::Shr { d, a, b, n } => shift_right(slots, d, a, slots[b as usize], n),
        WideOp::Div { d, a, b, n } => divide(slots, d, a, b, n, false),
        WideOp::Rem { d, a, b, n } => divide(slots, d, a, b, n, true),
        WideOp::Compare { d, a, b, n } => slots[d as usize] = compare(slots, a, b, n) as u64,
        WideOp::Select { d, c, a, b, n } => {
            let from = if slots[c as usize] != 0 { a } else { b };
            copy(slots, d, from, n);
        }
        WideOp::ClampU { d, a, n, bits } => {
            let (negative, above) = (is_negative(slots, a, n), exceeds(slots, a, n, bits, false));
            copy(slots, d, a, n);
            if negative {
                slots[d as usize..(d + n) as usize].fill(0);
            } else if above {
                slots[d as usize..(d + n) as usize].fill(u64::MAX);
                fill_above(slots, d, n, bits, false);
            }
        }
        WideOp::ClampS { d, a, n, bits } => {
            let negative = is_negative(slots, a, n);
            let above = exceeds(slots, a, n, bits - 1, negative);
            copy(slots, d, a, n);
            if above {
                // 0111.. or 1000..
                let low = if negative { 0 } else { u64::MAX };
                slots[d as usize..(d + n) as usize].fill(low);
                fill_above(slots, d, n, bits - 1, negative);
            }
        }
    }
}
