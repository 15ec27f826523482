//! Fields in bytes: reading them into slots and writing them back.

use crate::op::Slot;
use crate::program::{FieldPlan, FieldShape, limbs};

type Slots = [u64; 65_536];

/// Up to eight bytes, the most significant first.
#[inline]
fn load(bytes: &[u8], count: usize) -> u64 {
    let mut all = [0u8; 8];
    all[8 - count..].copy_from_slice(&bytes[..count]);
    u64::from_be_bytes(all)
}

#[inline]
fn store(bytes: &mut [u8], count: usize, value: u64) {
    bytes[..count].copy_from_slice(&value.to_be_bytes()[8 - count..]);
}

/// Reads the field that `plan` places into `bytes`, from where the header begins.
#[inline]
pub(crate) fn read(slots: &mut Slots, plan: &FieldPlan, bytes: &[u8], varbit_bytes: usize) {
    let start = plan.byte as usize + if plan.after_varbit { varbit_bytes } else { 0 };
    let at = &bytes[start..];
    slots[plan.slot as usize] = match plan.shape {
        FieldShape::U8 => u64::from(at[0]),
        FieldShape::U16 => load(at, 2),
        FieldShape::U32 => load(at, 4),
        FieldShape::U48 => load(at, 6),
        FieldShape::U64 => load(at, 8),
        FieldShape::Bits { first, width } => {
            let end = u32::from(first) + u32::from(width);
            let count = end.div_ceil(8);
            let value = load(at, count as usize) >> (count * 8 - end);
            value & crate::program::mask(u32::from(width))
        }
        FieldShape::Long { first, width } => {
            read_bits(slots, plan.slot, at, u32::from(first), u32::from(width));
            return;
        }
    };
}

/// Writes a field back.
#[inline]
pub(crate) fn write(slots: &Slots, plan: &FieldPlan, bytes: &mut [u8], varbit_bytes: usize) {
    let start = plan.byte as usize + if plan.after_varbit { varbit_bytes } else { 0 };
    let at = &mut bytes[start..];
    let value = slots[plan.slot as usize];
    match plan.shape {
        FieldShape::U8 => at[0] = value as u8,
        FieldShape::U16 => store(at, 2, value),
        FieldShape::U32 => store(at, 4, value),
        FieldShape::U48 => store(at, 6, value),
        FieldShape::U64 => store(at, 8, value),
        FieldShape::Bits { first, width } => {
            let end = u32::from(first) + u32::from(width);
            let count = end.div_ceil(8);
            let shift = count * 8 - end;
            let keep = crate::program::mask(u32::from(width)) << shift;
            let old = load(at, count as usize);
            store(at, count as usize, old & !keep | value << shift & keep);
        }
        FieldShape::Long { first, width } => {
            write_bits(slots, plan.slot, at, u32::from(first), u32::from(width));
        }
    }
}

/// `width` bits from bit `first` of `bytes` on, into as many limbs as they need.
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
