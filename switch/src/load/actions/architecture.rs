//! v1model's primitives become writes to the architecture's slots.

use crate::ir::architecture::{self, DROP_PORT};
use crate::ir::{Op, Slot, mask};
use crate::load::error::LoadError;
use crate::load::expressions::Expr;
use crate::load::loader::Loader;
use crate::load::value::Value;

impl Loader<'_> {
    /// Lowers a v1model primitive to a write to the architecture's slots.
    pub(crate) fn architecture(&mut self, op: &str, parameters: &[Value]) -> Result<(), LoadError> {
        match op {
            "mark_to_drop" | "drop" => {
                let standard = self.program.standard;
                let (port, zero) = (self.constant(DROP_PORT)?, self.constant(0)?);
                self.emit(Op::Move { d: standard.egress_spec.slot, a: port, mask: u64::MAX });
                if let Some(group) = standard.mcast_grp.known() {
                    self.emit(Op::Move { d: group.slot, a: zero, mask: u64::MAX });
                }
                Ok(())
            }
            "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" => {
                let session = self.names.expr(self.parameter(parameters, 0)?)?;
                let list = self.list(parameters, 1)?;
                let (d, flag) = (architecture::CLONE, self.constant(architecture::CLONE_FLAG)?);
                self.lower_into(&session, d, 32)?;
                self.emit(Op::Or { d, a: d, b: flag, mask: u64::MAX });
                self.emit(Op::Move { d: architecture::CLONE_LIST, a: list, mask: u64::MAX });
                Ok(())
            }
            "resubmit" | "recirculate" => {
                let a = self.list(parameters, 0)?;
                let d = match op {
                    "resubmit" => architecture::RESUBMIT,
                    _ => architecture::RECIRCULATE,
                };
                self.emit(Op::Move { d, a, mask: u64::MAX });
                Ok(())
            }
            "generate_digest" => {
                let a = self.list(parameters, 1)?;
                self.emit(Op::Move { d: architecture::DIGEST, a, mask: u64::MAX });
                Ok(())
            }
            "truncate" => {
                // Stored as 2^40 - length, so that 0 means none and the largest value is the
                // shortest length.
                let length = self.operand(parameters, 0)?;
                let (short, less) = (self.temporary(1)?, self.temporary(1)?);
                let none = self.constant(architecture::TRUNCATE_NONE)?;
                let d = architecture::TRUNCATE;
                self.emit(Op::ClampU { d: short, a: length, max: mask(32) });
                self.emit(Op::Sub { d: short, a: none, b: short, mask: u64::MAX });
                self.emit(Op::LessU { d: less, a: d, b: short });
                self.emit(Op::Select { d, c: less, a: short, b: d });
                Ok(())
            }
            _ => Err(self.names.unsupported("the primitive", op)),
        }
    }

    /// A field list's number as a constant; the list must exist.
    pub(crate) fn list(&mut self, parameters: &[Value], i: usize) -> Result<Slot, LoadError> {
        let value = self.parameter(parameters, i)?;
        match self.names.expr(value)? {
            Expr::Constant(id) => match id.to_u64() {
                Some(id) if id > 0 => self.constant(id),
                _ => Err(self.names.malformed("field list", "its number", value)),
            },
            _ => Err(self.names.malformed("field list", "a constant", value)),
        }
    }
}
