//! The destination of a primitive.

use crate::ir::{NOWHERE, Op, Slot, limbs, mask};
use crate::load::error::LoadError;
use crate::load::expressions::{Expr, Part};
use crate::load::loader::Loader;
use crate::load::value::Value;

/// The destination of a primitive.
pub(super) enum Destination {
    Slot { slot: Slot, width: u32 },
    Element { stack: u16, i: Slot, offset: u16, width: u32 },
    Varbit(u16),
}

impl Loader<'_> {
    pub(super) fn assign(&mut self, to: Destination, from: &Value) -> Result<(), LoadError> {
        match to {
            Destination::Slot { slot, width } => {
                let e = self.names.expr(from)?;
                self.lower_into(&e, slot, width)
            }
            Destination::Element { stack, i, offset, width } => {
                let e = self.names.expr(from)?;
                let a = self.temporary(limbs(width))?;
                self.lower_into(&e, a, width)?;
                self.store_element(stack, i, offset, width, a);
                Ok(())
            }
            Destination::Varbit(d) => {
                let a = self.varbit(from)?;
                self.emit(Op::CopyVarbit { d, a });
                Ok(())
            }
        }
    }

    /// Stores a value that is at most as wide as the field.
    pub(super) fn store_element(&mut self, stack: u16, i: Slot, offset: u16, width: u32, a: Slot) {
        for limb in 0..limbs(width) {
            self.emit(Op::StoreElement { i, a: a + limb, stack, offset: offset + limb });
        }
    }

    /// Emits an operation that yields `width` bits into a destination of any width. A width of 64
    /// means that the operation truncates its result.
    pub(super) fn write_through(
        &mut self,
        to: Destination,
        width: u32,
        op: impl Fn(Slot, u64) -> Op,
    ) -> Result<(), LoadError> {
        let fits = |to_width: u32| to_width >= width || (to_width <= 64 && width == 64);
        match to {
            Destination::Slot { slot, width: to_width } if fits(to_width) => {
                // Limbs above the value stay zero.
                for limb in limbs(width)..limbs(to_width) {
                    let zero = self.constant(0)?;
                    self.emit(Op::Move { d: slot + limb, a: zero, mask: 0 });
                }
                self.emit(op(slot, mask(to_width)));
                Ok(())
            }
            Destination::Slot { slot, width: to_width } => {
                let a = self.temporary(limbs(width))?;
                self.emit(op(a, u64::MAX));
                for limb in 0..limbs(to_width) {
                    let keep = mask(to_width - u32::from(limb) * 64);
                    self.emit(Op::Move { d: slot + limb, a: a + limb, mask: keep });
                }
                Ok(())
            }
            Destination::Element { stack, i, offset, width: to_width } => {
                let a = self.temporary(limbs(width).max(limbs(to_width)))?;
                for limb in limbs(width)..limbs(to_width) {
                    let zero = self.constant(0)?;
                    self.emit(Op::Move { d: a + limb, a: zero, mask: 0 });
                }
                self.emit(op(a, u64::MAX));
                let top = a + limbs(to_width) - 1;
                let keep = mask(to_width - u32::from(limbs(to_width) - 1) * 64);
                self.emit(Op::Move { d: top, a: top, mask: keep });
                self.store_element(stack, i, offset, to_width, a);
                Ok(())
            }
            Destination::Varbit(_) => Err(self.names.unsupported("a result in", "a varbit")),
        }
    }

    pub(super) fn destination(&mut self, value: &Value) -> Result<Destination, LoadError> {
        match self.names.expr(value)? {
            Expr::Field { header, field } => {
                let field = &self.program.headers[header as usize].fields[field as usize];
                if field.varbit {
                    return Ok(Destination::Varbit(header));
                }
                if field.slot == NOWHERE {
                    return Err(self.names.unsupported("a write to the field", &field.name));
                }
                Ok(Destination::Slot { slot: field.slot, width: field.width })
            }
            Expr::Element { stack, index, part } => {
                let i = self.narrow_unsigned(&index)?;
                let (offset, width, _) = self.element_part(stack, part)?;
                Ok(Destination::Element { stack, i, offset, width })
            }
            Expr::Last { stack, field } => {
                let i = self.temporary(1)?;
                self.emit(Op::StackLast { d: i, stack });
                let part = Part::Field(field);
                let (offset, width, _) = self.element_part(stack, part)?;
                Ok(Destination::Element { stack, i, offset, width })
            }
            _ => Err(self.names.malformed("destination", "a field", value)),
        }
    }
}
