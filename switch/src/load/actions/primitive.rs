//! Primitive calls, in actions and parser states.

use crate::ir::{Op, Slot};
use crate::load::error::LoadError;
use crate::load::loader::Loader;
use crate::load::value::Value;

impl Loader<'_> {
    pub(crate) fn parameter<'v>(
        &self,
        parameters: &'v [Value<'v>],
        i: usize,
    ) -> Result<&'v Value<'v>, LoadError> {
        match parameters.get(i) {
            Some(value) => Ok(value),
            None => {
                let expected = format!("at least {}", i + 1);
                Err(self.names.malformed("number of parameters", expected, parameters.len()))
            }
        }
    }

    pub(crate) fn operand(&mut self, parameters: &[Value], i: usize) -> Result<Slot, LoadError> {
        let e = self.names.expr(self.parameter(parameters, i)?)?;
        self.narrow_unsigned(&e)
    }

    /// Lowers one primitive call, in an action or in a parser state.
    pub(crate) fn primitive(&mut self, op: &str, parameters: &[Value]) -> Result<(), LoadError> {
        match op {
            "assign" | "modify_field" | "set" => {
                let to = self.destination(self.parameter(parameters, 0)?)?;
                let from = self.parameter(parameters, 1)?;
                self.assign(to, from)
            }
            "assign_VL" => {
                let d = self.varbit(self.parameter(parameters, 0)?)?;
                let a = self.varbit(self.parameter(parameters, 1)?)?;
                self.emit(Op::CopyVarbit { d, a });
                Ok(())
            }
            // Skips the rest of the action too; p4c ends the action here.
            "exit" => {
                self.emit(Op::Jump(0));
                Ok(())
            }
            "no_op" => Ok(()),
            "assert" | "assume" => {
                let condition = self.names.expr(self.parameter(parameters, 0)?)?;
                let a = self.lower(&condition, None)?.slot;
                self.emit(Op::Assert { a });
                Ok(())
            }
            _ => self.header_primitive(op, parameters),
        }
    }
}
