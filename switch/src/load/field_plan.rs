//! How to read the fields of a header from its bytes, and how to write them.

use crate::ir::{Field, FieldPlan, FieldPlans, Header, Part, Slot, Window, Word, mask};

/// The widest field that is read and written limb by limb, such as an IPv6 address.
const LIMBWISE_BITS: u32 = 512;

/// Adds a field to a plan. Fields come in their order in the header.
pub(super) fn plan(plans: &mut FieldPlans, header: &Header, field: &Field) {
    let has_whole_limbs = field.width % 64 == 0 && field.bit % 8 == 0 && !field.after_varbit;
    if !has_whole_limbs || !(65..=LIMBWISE_BITS).contains(&field.width) {
        return plan_one(plans, header, field);
    }
    for limb in (0..field.width / 64).rev() {
        let slot = field.slot + limb as Slot;
        let bit = field.bit + field.width - (limb + 1) * 64;
        plan_one(plans, header, &Field { slot, bit, width: 64, ..field.clone() });
    }
}

/// Adds a field, or a limb of one.
fn plan_one(plans: &mut FieldPlans, header: &Header, field: &Field) {
    // A field after a variable-length field has no fixed position.
    let varbit = header.fields.iter().find(|field| field.varbit);
    let limit = varbit.map_or(header.fixed_bytes, |varbit| varbit.bit / 8);
    let (start, end) = (field.bit / 8, (field.bit + field.width).div_ceil(8));
    let mask = mask(field.width);
    if field.after_varbit || limit < 8 || end - start.min(limit - 8) > 8 {
        plans.others.push(alone(limit, field));
        return;
    }
    let open = plans.words.last().map(|word| u32::from(word.byte));
    let byte = match open.filter(|byte| byte + 8 >= end) {
        Some(byte) => byte,
        None => {
            let byte = start.min(limit - 8);
            plans.words.push(Word { byte: byte as u16, count: 0 });
            byte
        }
    };
    if let Some(word) = plans.words.last_mut() {
        word.count += 1;
    }
    let shift = (byte + 8) * 8 - (field.bit + field.width);
    plans.parts.push(Part { slot: field.slot, shift: shift as u8, mask });
}

/// The smallest window of 1, 2 or 4 bytes that holds the field and lies below `limit`.
fn alone(limit: u32, field: &Field) -> FieldPlan {
    let (start, end) = (field.bit / 8, (field.bit + field.width).div_ceil(8));
    let bits = Window::Bits {
        first: (field.bit % 8) as u8,
        width: field.width as u16,
        after_varbit: field.after_varbit,
    };
    let plan = FieldPlan {
        slot: field.slot,
        byte: start as u16,
        window: bits,
        shift: 0,
        mask: mask(field.width),
    };
    let size = (end - start).next_power_of_two();
    if size > 4 || size > limit || field.after_varbit {
        return plan;
    }
    let byte = start.min(limit - size);
    let window = match size {
        1 => Window::One,
        2 => Window::Two,
        _ => Window::Four,
    };
    let shift = (byte + size) * 8 - (field.bit + field.width);
    FieldPlan { byte: byte as u16, window, shift: shift as u8, ..plan }
}
