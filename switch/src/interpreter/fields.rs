//! Reads fields from bytes into slots, and writes them back.

use crate::ir::{FieldPlan, FieldPlans, Slot, Slots, Window, limbs};

/// `N` bytes, the most significant first.
#[inline]
fn load<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    let mut all = [0u8; 8];
    all[8 - N..].copy_from_slice(&bytes[at..at + N]);
    u64::from_be_bytes(all)
}

#[inline]
fn store<const N: usize>(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + N].copy_from_slice(&value.to_be_bytes()[8 - N..]);
}

/// Reads the fields of `plans` from `bytes`, which begin with the header.
#[inline]
pub(crate) fn read(slots: &mut Slots, plans: &FieldPlans, bytes: &[u8], varbit_bytes: usize) {
    let mut rest = plans.parts.as_slice();
    for word in &plans.words {
        let value = load::<8>(bytes, word.byte as usize);
        let (parts, after) = rest.split_at(word.count as usize);
        rest = after;
        for part in parts {
            slots[part.slot as usize] = value >> part.shift & part.mask;
        }
    }
    for plan in &plans.others {
        read_alone(slots, plan, bytes, varbit_bytes);
    }
}

fn read_alone(slots: &mut Slots, plan: &FieldPlan, bytes: &[u8], varbit_bytes: usize) {
    let at = plan.byte as usize;
    let value = match plan.window {
        Window::One => u64::from(bytes[at]),
        Window::Two => load::<2>(bytes, at),
        Window::Four => load::<4>(bytes, at),
        Window::Bits { first, width, after_varbit } => {
            let at = at + if after_varbit { varbit_bytes } else { 0 };
            return read_bits(slots, plan.slot, &bytes[at..], first.into(), width.into());
        }
    };
    slots[plan.slot as usize] = value >> plan.shift & plan.mask;
}

/// Writes fields back.
#[inline]
pub(crate) fn write(slots: &Slots, plans: &FieldPlans, bytes: &mut [u8], varbit_bytes: usize) {
    let mut rest = plans.parts.as_slice();
    for word in &plans.words {
        let mut value = load::<8>(bytes, word.byte as usize);
        let (parts, after) = rest.split_at(word.count as usize);
        rest = after;
        for part in parts {
            let keep = !(part.mask << part.shift);
            value = value & keep | (slots[part.slot as usize] & part.mask) << part.shift;
        }
        store::<8>(bytes, word.byte as usize, value);
    }
    for plan in &plans.others {
        write_alone(slots, plan, bytes, varbit_bytes);
    }
}

fn write_alone(slots: &Slots, plan: &FieldPlan, bytes: &mut [u8], varbit_bytes: usize) {
    let at = plan.byte as usize;
    let value = (slots[plan.slot as usize] & plan.mask) << plan.shift;
    let keep = !(plan.mask << plan.shift);
    match plan.window {
        Window::One => bytes[at] = bytes[at] & keep as u8 | value as u8,
        Window::Two => store::<2>(bytes, at, load::<2>(bytes, at) & keep | value),
        Window::Four => store::<4>(bytes, at, load::<4>(bytes, at) & keep | value),
        Window::Bits { first, width, after_varbit } => {
            let at = at + if after_varbit { varbit_bytes } else { 0 };
            write_bits(slots, plan.slot, &mut bytes[at..], first.into(), width.into());
        }
    }
}

/// Reads `width` bits from bit `first` of `bytes` into as many limbs as they need.
pub(crate) fn read_bits(slots: &mut Slots, d: Slot, bytes: &[u8], first: u32, width: u32) {
    let mut end = first + width;
    let mut left = width;
    for limb in 0..limbs(width) {
        let (mut value, mut got) = (0u64, 0u32);
        let want = left.min(64);
        while got < want {
            let byte = u64::from(bytes[((end - 1) / 8) as usize]);
            let low = 7 - (end - 1) % 8;
            let count = (8 - low).min(want - got);
            value |= (byte >> low & ((1 << count) - 1)) << got;
            got += count;
            end -= count;
        }
        slots[(d + limb) as usize] = value;
        left -= want;
    }
}

fn write_bits(slots: &Slots, a: Slot, bytes: &mut [u8], first: u32, width: u32) {
    let mut end = first + width;
    let mut left = width;
    for limb in 0..limbs(width) {
        let (mut value, mut want) = (slots[(a + limb) as usize], left.min(64));
        left -= want;
        while want > 0 {
            let byte = &mut bytes[((end - 1) / 8) as usize];
            let low = 7 - (end - 1) % 8;
            let count = (8 - low).min(want);
            let keep = (((1u16 << count) - 1) as u8) << low;
            *byte = *byte & !keep | (value as u8) << low & keep;
            value >>= count;
            want -= count;
            end -= count;
        }
    }
}
