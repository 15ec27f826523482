//! The deparser: writes fields back if their headers have not moved, and otherwise rebuilds the
//! headers.

use super::translator::Translator;
use crate::ir::{FieldPlan, FieldPlans, Header, Slot, Window, mask};
use crate::jit::host::{BEFORE, BEFORE_LENGTH, Helper};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value, types};

/// The most bytes of a header that are copied by loads and stores.
const COPIED_MAX: u32 = 256;

/// Units of a copy, the largest first.
const UNITS: [Type; 5] = [types::I8X16, types::I64, types::I32, types::I16, types::I8];

/// The most stores for a word that is not loaded first.
const UNITS_PER_WORD: usize = 2;

impl Translator<'_, '_> {
    /// Whether [`Translator::patch`] supports the program.
    pub(super) fn patches(&self) -> bool {
        let headers = &self.program.headers;
        let patched = self.program.patched.iter().map(|&header| &headers[header as usize]);
        patched.into_iter().all(|header| is_plain(&header.patch))
    }

    /// Does what `deparse` does while no header has moved.
    pub(super) fn patch(&mut self) {
        let program = self.program;
        for &header in &program.patched {
            let header = &program.headers[header as usize];
            let (valid, next) = (self.builder.create_block(), self.builder.create_block());
            let is_valid = self.read(header.valid());
            let before = self.known_here();
            self.builder.ins().brif(is_valid, valid, &[], next, &[]);
            self.builder.switch_to_block(valid);
            let origin = self.read(header.origin());
            let start = self.builder.ins().iadd_imm(origin, -1);
            let end = self.builder.ins().iadd_imm(start, i64::from(header.fixed_bytes));
            let length = self.frame_length();
            let inside = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, length);
            let there = self.builder.create_block();
            self.builder.ins().brif(inside, there, &[], next, &[]);
            self.builder.switch_to_block(there);
            let data = self.frame();
            let start = self.builder.ins().iadd(data, start);
            self.put_fields(&header.patch, start);
            self.builder.ins().jump(next, &[]);
            self.builder.switch_to_block(next);
            self.go_back_to(before);
        }
    }

    /// Does what `deparse` does after a header has moved. Ends the phase first if a valid header
    /// needs `deparse`.
    pub(super) fn rebuild(&mut self) {
        let program = self.program;
        let headers = program.deparse.iter().map(|&header| &program.headers[header as usize]);
        let (mut bytes, mut others) = (self.constant(0), self.constant(0));
        for header in headers.clone() {
            let valid = self.read(header.valid());
            if is_writable(header) {
                let here = self.builder.ins().imul_imm(valid, i64::from(header.fixed_bytes));
                bytes = self.builder.ins().iadd(bytes, here);
            } else {
                others = self.builder.ins().bor(others, valid);
            }
        }
        self.end_if(others);
        self.call_with(Helper::Rebuild, &[bytes]);
        let mut start = self.frame();
        for (&number, header) in program.deparse.iter().zip(headers) {
            if !is_writable(header) {
                continue;
            }
            let (valid, next) = (self.builder.create_block(), self.builder.create_block());
            let end = self.builder.append_block_param(next, types::I64);
            let is_valid = self.read(header.valid());
            let before = self.known_here();
            self.builder.ins().brif(is_valid, valid, &[], next, &[start.into()]);
            self.builder.switch_to_block(valid);
            // The parser extracts no header that only egress makes valid.
            if !program.egress_headers.contains(&number) {
                self.bytes_before(header, start);
            }
            self.put_fields(&header.patch, start);
            let behind = self.builder.ins().iadd_imm(start, i64::from(header.fixed_bytes));
            self.builder.ins().jump(next, &[behind.into()]);
            self.builder.switch_to_block(next);
            self.go_back_to(before);
            start = end;
        }
    }

    /// A header's original bytes, if it was extracted.
    fn bytes_before(&mut self, header: &Header, start: Value) {
        let [came, there, on] = [(); 3].map(|()| self.builder.create_block());
        let origin = self.read(header.origin());
        self.builder.ins().brif(origin, came, &[], on, &[]);
        self.builder.switch_to_block(came);
        let old = self.builder.ins().iadd_imm(origin, -1);
        let end = self.builder.ins().iadd_imm(old, i64::from(header.fixed_bytes));
        let length = self.host_word(BEFORE_LENGTH);
        let inside = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, length);
        self.builder.ins().brif(inside, there, &[], on, &[]);
        self.builder.switch_to_block(there);
        let before = self.host_word(BEFORE);
        let old = self.builder.ins().iadd(before, old);
        self.copy(old, start, header.fixed_bytes);
        self.builder.ins().jump(on, &[]);
        self.builder.switch_to_block(on);
    }

    /// Copies this many bytes; the two ranges do not overlap.
    fn copy(&mut self, from: Value, to: Value, bytes: u32) {
        let flags = MemFlags::new().with_notrap();
        let Some(&unit) = UNITS.iter().find(|unit| unit.bytes() <= bytes) else { return };
        for at in (0..bytes).step_by(unit.bytes() as usize) {
            // The last unit may overlap the one before.
            let at = at.min(bytes - unit.bytes()) as i32;
            let moved = self.builder.ins().load(unit, flags, from, at);
            self.builder.ins().store(flags, moved, to, at);
        }
    }

    fn put_fields(&mut self, plans: &FieldPlans, start: Value) {
        let mut rest = plans.parts.as_slice();
        for word in &plans.words {
            let (parts, after) = rest.split_at(word.count as usize);
            rest = after;
            let covered = parts.iter().fold(0, |bits, part| bits | part.mask << part.shift);
            let (units, mut value) = match whole_units(covered) {
                Some(units) => (units, self.constant(0)),
                None => (vec![(0, types::I64)], self.rest(types::I64, start, word.byte, covered)),
            };
            for part in parts {
                value = self.put(value, part.slot, part.shift, part.mask);
            }
            for (at, unit) in units {
                let behind = types::I64.bytes() - at - unit.bytes();
                let shifted = self.builder.ins().ushr_imm(value, i64::from(8 * behind));
                self.put_big_endian(unit, shifted, start, word.byte + at as u16);
            }
        }
        for plan in &plans.others {
            let kind = kind_of(plan);
            let value = self.rest(kind, start, plan.byte, plan.mask << plan.shift);
            let value = self.put(value, plan.slot, plan.shift, plan.mask);
            self.put_big_endian(kind, value, start, plan.byte);
        }
    }

    /// The bytes at this position, with the bits of fields cleared.
    fn rest(&mut self, kind: Type, start: Value, byte: u16, covered: u64) -> Value {
        if covered == mask(kind.bits()) {
            return self.constant(0);
        }
        let value = self.big_endian(kind, start, byte);
        self.masked(value, !covered)
    }

    /// Inserts a field into the clear bits of `value`.
    fn put(&mut self, value: Value, slot: Slot, shift: u8, mask: u64) -> Value {
        let field = self.read(slot);
        let field = self.masked(field, mask);
        let field = self.builder.ins().ishl_imm(field, i64::from(shift));
        self.builder.ins().bor(value, field)
    }

    fn put_big_endian(&mut self, kind: Type, value: Value, start: Value, byte: u16) {
        let cut = if kind == types::I64 { value } else { self.builder.ins().ireduce(kind, value) };
        let turned = if kind == types::I8 { cut } else { self.builder.ins().bswap(cut) };
        let flags = MemFlags::new().with_notrap();
        self.builder.ins().store(flags, turned, start, i32::from(byte));
    }
}

/// The units that write these bits of a big-endian word and no others: the first byte and the type
/// of each. `None` if there are too many, or a byte is covered in part. Without them, a word is
/// loaded and stored as a whole. If it overlaps the one stored before, the processor waits.
fn whole_units(covered: u64) -> Option<Vec<(u32, Type)>> {
    let bytes = covered.to_be_bytes();
    let mut units = Vec::new();
    let mut at = 0;
    while let Some(unset) = bytes[at..].iter().position(|&byte| byte != 0) {
        at += unset;
        let is_whole = |unit: &&Type| {
            let end = at + unit.bytes() as usize;
            bytes.get(at..end).is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0xff))
        };
        let unit = *UNITS.iter().find(is_whole)?;
        units.push((at as u32, unit));
        at += unit.bytes() as usize;
    }
    (units.len() <= UNITS_PER_WORD).then_some(units)
}

/// Whether every field is in a window of whole bytes.
pub(super) fn is_plain(plans: &FieldPlans) -> bool {
    !plans.others.iter().any(|plan| matches!(plan.window, Window::Bits { .. }))
}

fn is_writable(header: &Header) -> bool {
    !header.has_varbit && header.fixed_bytes <= COPIED_MAX && is_plain(&header.patch)
}

/// The type of the load for a field in its own window.
pub(super) fn kind_of(plan: &FieldPlan) -> Type {
    match plan.window {
        Window::One => types::I8,
        Window::Two => types::I16,
        Window::Four => types::I32,
        Window::Bits { .. } => unreachable!("is_plain() leaves these out"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits that units write.
    fn covered(units: &[(u32, Type)]) -> u64 {
        units.iter().fold(0, |bits, &(at, unit)| {
            let behind = types::I64.bytes() - at - unit.bytes();
            let own = mask(unit.bits()) << (8 * behind);
            assert_eq!(bits & own, 0, "no byte is written twice");
            bits | own
        })
    }

    #[test]
    fn units_write_whole_bytes_and_no_others() {
        for bytes in 0..=u8::MAX {
            let bits = (0..8).filter(|bit| bytes >> bit & 1 == 1);
            let wanted = bits.fold(0, |bits, bit| bits | 0xff << (8 * bit));
            if let Some(units) = whole_units(wanted) {
                assert_eq!(covered(&units), wanted);
            }
        }
    }

    #[test]
    fn a_mac_address_takes_two_units_and_a_part_of_a_byte_none() {
        let expected = vec![(0, types::I32), (4, types::I16)];
        assert_eq!(whole_units(0xffff_ffff_ffff_0000), Some(expected));
        assert_eq!(whole_units(u64::MAX), Some(vec![(0, types::I64)]));
        assert_eq!(whole_units(0xff00_ff00_ff00_0000), None, "too many");
        assert_eq!(whole_units(0x0fff_0000_0000_0000), None);
    }
}
