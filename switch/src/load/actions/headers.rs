//! Primitives that copy, validate or move headers.

use crate::ir::{HeaderRef, Op, limbs};
use crate::load::error::LoadError;
use crate::load::expressions::HeaderExpr;
use crate::load::loader::Loader;
use crate::load::value::Value;

impl Loader<'_> {
    /// Lowers a primitive that copies, validates or moves headers.
    pub(crate) fn header_primitive(
        &mut self,
        op: &str,
        parameters: &[Value],
    ) -> Result<(), LoadError> {
        match op {
            "assign_header" | "copy_header" if self.is_metadata(parameters) => {
                self.copy_metadata(parameters)
            }
            "assign_header" | "copy_header" => {
                let d = self.header_ref(self.parameter(parameters, 0)?)?;
                let a = self.header_ref(self.parameter(parameters, 1)?)?;
                self.copy_header(d, a)
            }
            "assign_header_stack" => {
                let d = self.stack_parameter(parameters, 0)?;
                let a = self.stack_parameter(parameters, 1)?;
                let kind = |stack: u16| {
                    let headers = &self.program.stacks[stack as usize].headers;
                    (headers.len(), self.program.headers[headers[0] as usize].header_type)
                };
                if kind(d) != kind(a) {
                    return Err(self.names.malformed("stacks", "two of one type", parameters));
                }
                self.emit(Op::CopyStack { d, a });
                Ok(())
            }
            "assign_union" => {
                let d = self.union_parameter(parameters, 0)?;
                let a = self.union_parameter(parameters, 1)?;
                // Invalid members first: validating a member invalidates the others.
                for (&d, &a) in d.iter().zip(&a) {
                    self.emit(Op::SetInvalid { header: d });
                    let valid = self.program.headers[a as usize].valid();
                    let skip = self.emit(Op::JumpZero { a: valid, to: 0 });
                    self.copy_header(HeaderRef::Fixed(d), HeaderRef::Fixed(a))?;
                    let here = self.here();
                    self.patch(skip, here);
                }
                Ok(())
            }
            "add_header" | "remove_header" => {
                let op = match (self.header_ref(self.parameter(parameters, 0)?)?, op) {
                    (HeaderRef::Fixed(header), "add_header") => Op::SetValid { header },
                    (HeaderRef::Fixed(header), _) => Op::SetInvalid { header },
                    (HeaderRef::Element { stack, i }, "add_header") => {
                        Op::SetElementValid { stack, i }
                    }
                    (HeaderRef::Element { stack, i }, _) => Op::SetElementInvalid { stack, i },
                };
                self.emit(op);
                Ok(())
            }
            "push" | "pop" => {
                let stack = self.parameter(parameters, 0)?;
                let (a, push) = (self.operand(parameters, 1)?, op == "push");
                let op = if stack["type"] == "header_union_stack" {
                    let stack = self.names.union_stack(self.names.text(stack, "value")?)?;
                    Op::ShiftUnions { stack, a, push }
                } else {
                    let stack = self.stack_parameter(parameters, 0)?;
                    Op::ShiftStack { stack, a, push }
                };
                self.emit(op);
                Ok(())
            }
            _ => self.extern_primitive(op, parameters),
        }
    }

    /// Rejects metadata where a header is needed.
    pub(crate) fn real_header(&self, header: u16) -> Result<u16, LoadError> {
        let found = &self.program.headers[header as usize];
        if found.metadata {
            return Err(self.names.unsupported("metadata as a header operand,", &found.name));
        }
        Ok(header)
    }

    pub(crate) fn header_ref(&mut self, value: &Value) -> Result<HeaderRef, LoadError> {
        match self.names.header_expr(value)? {
            HeaderExpr::Fixed(header) => Ok(HeaderRef::Fixed(self.real_header(header)?)),
            HeaderExpr::Element { stack, index } => {
                Ok(HeaderRef::Element { stack, i: self.narrow_unsigned(&index)? })
            }
        }
    }

    pub(crate) fn is_metadata(&self, parameters: &[Value]) -> bool {
        let named = |value: &Value| self.names.header_expr(value).ok();
        let first = parameters.first().and_then(named);
        matches!(first, Some(HeaderExpr::Fixed(h)) if self.program.headers[h as usize].metadata)
    }

    /// Copies a structure of metadata, field by field.
    pub(crate) fn copy_metadata(&mut self, parameters: &[Value]) -> Result<(), LoadError> {
        let fixed = |i: usize| match self.names.header_expr(self.parameter(parameters, i)?)? {
            HeaderExpr::Fixed(header) => Ok(self.program.headers[header as usize].clone()),
            HeaderExpr::Element { .. } => {
                Err(self.names.malformed("operand", "metadata", &parameters[i]))
            }
        };
        let (to, from) = (fixed(0)?, fixed(1)?);
        if to.header_type != from.header_type || to.has_varbit || !from.metadata {
            return Err(self.names.malformed("operands", "two of one type", parameters));
        }
        for (to, from) in to.fields.iter().zip(&from.fields) {
            for limb in 0..limbs(to.width) {
                let (d, a) = (to.slot + limb, from.slot + limb);
                self.emit(Op::Move { d, a, mask: u64::MAX });
            }
        }
        Ok(())
    }

    pub(crate) fn copy_header(&mut self, d: HeaderRef, a: HeaderRef) -> Result<(), LoadError> {
        let kind = |header: HeaderRef| match header {
            HeaderRef::Fixed(header) => &self.program.headers[header as usize],
            HeaderRef::Element { stack, .. } => {
                let first = self.program.stacks[stack as usize].headers[0];
                &self.program.headers[first as usize]
            }
        };
        if kind(d).header_type != kind(a).header_type {
            return Err(self.names.malformed("headers", "two of one type", &kind(a).name));
        }
        if !(kind(d).built && kind(a).built) {
            return Err(self.names.unsupported("an assignment of the header", &kind(a).name));
        }
        if let (HeaderRef::Fixed(d), HeaderRef::Fixed(a)) = (d, a) {
            self.emit(Op::CopyHeader { d, a });
        } else {
            self.program.copies.push((d, a));
            let index = (self.program.copies.len() - 1) as u32;
            self.emit(Op::CopyDynamic(index));
        }
        Ok(())
    }

    pub(crate) fn stack_parameter(&self, parameters: &[Value], i: usize) -> Result<u16, LoadError> {
        self.names.stack(self.names.text(self.parameter(parameters, i)?, "value")?)
    }

    pub(crate) fn union_parameter(
        &self,
        parameters: &[Value],
        i: usize,
    ) -> Result<Vec<u16>, LoadError> {
        let name = self.names.text(self.parameter(parameters, i)?, "value")?;
        let members = self.names.union(name)?.to_vec();
        members.iter().try_for_each(|&member| self.real_header(member).map(drop))?;
        Ok(members)
    }

    /// The header of a varbit field.
    pub(crate) fn varbit(&mut self, value: &Value) -> Result<u16, LoadError> {
        let e = self.names.expr(value)?;
        let malformed = || self.names.malformed("operand", "a varbit field", value);
        self.names.varbit(&e).ok_or_else(malformed)
    }
}
