//! Actions and their primitives.

use super::error::LoadError;
use super::expr::{Expr, HeaderExpr};
use super::json::Primitive;
use super::loader::Loader;
use crate::ir::architecture::{self, DROP_PORT};
use crate::ir::{Action, HashCall, HeaderRef, LogCall, NOWHERE, Op, Parameter, Slot, limbs, mask};
use serde_json::Value;

/// Where a primitive writes to.
enum Destination {
    Slot { slot: Slot, width: u32 },
    Element { stack: u16, i: Slot, offset: u16, width: u32 },
    Varbit(u16),
}

impl Loader<'_> {
    /// Reads the actions' names and parameters.
    pub(super) fn declare_actions(&mut self) -> Result<(), LoadError> {
        for action in &self.root.actions {
            self.names.location = format!("action '{}'", action.name);
            let (mut parameters, mut total) = (vec![], 0);
            for data in &action.runtime_data {
                if data.bitwidth == 0 || data.bitwidth > 16_384 {
                    let expected = "a width of 1 to 16,384 bits";
                    return Err(self.names.malformed(&data.name, expected, data.bitwidth));
                }
                let width = data.bitwidth as u32;
                total += limbs(width);
                parameters.push(Parameter { name: data.name.clone(), width });
            }
            let index = self.program.actions.len() as u16;
            if self.action_ids.insert(action.id, index).is_some() {
                return Err(self.names.malformed("id", "one of its own", action.id));
            }
            self.program.actions.push(Action {
                name: action.name.clone(),
                parameters,
                code: 0,
                limbs: total,
            });
        }
        Ok(())
    }

    pub(super) fn lower_actions(&mut self) -> Result<(), LoadError> {
        for index in 0..self.root.actions.len() {
            self.program.actions[index].code = self.here();
            self.inline_action(index as u16, self.program.parameters)?;
            self.emit(Op::Return);
        }
        Ok(())
    }

    /// Emits an action's body here; its parameters are in the slots from `parameters` on.
    pub(super) fn inline_action(&mut self, index: u16, parameters: Slot) -> Result<(), LoadError> {
        let action = &self.root.actions[index as usize];
        let mut slot = parameters;
        self.locals.clear();
        for parameter in &self.program.actions[index as usize].parameters {
            self.locals.push((slot, parameter.width));
            slot += limbs(parameter.width);
        }
        let location = format!("action '{}'", action.name);
        let result = self.primitives(&location, &action.primitives);
        self.locals.clear();
        result
    }

    fn primitives(&mut self, location: &str, primitives: &[Primitive]) -> Result<(), LoadError> {
        let (mut starts, mut jumps) = (vec![], vec![]);
        for (i, primitive) in primitives.iter().enumerate() {
            self.names.location = format!("{location}, primitive {i} ({})", primitive.op);
            starts.push(self.here());
            let parameters = &primitive.parameters;
            match primitive.op.as_str() {
                "_jump" => {
                    let target = self.jump_target(parameters.first(), primitives.len())?;
                    jumps.push((self.emit(Op::Jump(0)), target));
                }
                "_jump_if_zero" => {
                    let condition = self.names.expr(self.parameter(parameters, 0)?)?;
                    let target = self.jump_target(parameters.get(1), primitives.len())?;
                    jumps.push((self.branch_unless(&condition)?, target));
                }
                op => self.primitive(op, parameters)?,
            }
            self.statement_ends();
        }
        starts.push(self.here());
        for (at, target) in jumps {
            self.patch(at, starts[target]);
        }
        Ok(())
    }

    fn jump_target(&self, value: Option<&Value>, count: usize) -> Result<usize, LoadError> {
        let target = match value.map(|value| self.names.expr(value)).transpose()? {
            Some(Expr::Constant(target)) => target.to_u64(),
            _ => None,
        };
        match target {
            Some(target) if target <= count as u64 => Ok(target as usize),
            _ => Err(self.names.malformed("offset", "the index of a primitive", value)),
        }
    }

    fn parameter<'v>(&self, parameters: &'v [Value], i: usize) -> Result<&'v Value, LoadError> {
        match parameters.get(i) {
            Some(value) => Ok(value),
            None => {
                let expected = format!("at least {}", i + 1);
                Err(self.names.malformed("number of parameters", expected, parameters.len()))
            }
        }
    }

    /// Lowers one primitive call, in an action or in a parser state.
    pub(super) fn primitive(&mut self, op: &str, parameters: &[Value]) -> Result<(), LoadError> {
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
                // Members that are not valid first: validating one invalidates the others.
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
            // Whatever follows in the action is skipped too; p4c ends the action here.
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
            "log_msg" => self.log(parameters),
            "register_read" => {
                let to = self.destination(self.parameter(parameters, 0)?)?;
                let name = self.names.text(self.parameter(parameters, 1)?, "value")?;
                let register = self.names.register(name)?;
                let i = self.operand(parameters, 2)?;
                let width = self.program.registers[register as usize].width;
                self.write_through(to, width, |d, mask| Op::RegisterRead { d, register, i, mask })
            }
            "register_write" => {
                let name = self.names.text(self.parameter(parameters, 0)?, "value")?;
                let register = self.names.register(name)?;
                let i = self.operand(parameters, 1)?;
                let value = self.names.expr(self.parameter(parameters, 2)?)?;
                let width = self.program.registers[register as usize].width;
                let a = if width <= 64 {
                    self.lower(&value, Some(width))?.slot
                } else {
                    let a = self.temporary(limbs(width))?;
                    self.lower_into(&value, a, width)?;
                    a
                };
                self.emit(Op::RegisterWrite { register, i, a });
                Ok(())
            }
            "count" => {
                let name = self.names.text(self.parameter(parameters, 0)?, "value")?;
                let counter = self.names.counter(name)?;
                let i = self.operand(parameters, 1)?;
                self.emit(Op::Count { counter, i });
                Ok(())
            }
            "execute_meter" => {
                let name = self.names.text(self.parameter(parameters, 0)?, "value")?;
                let meter = self.names.meter(name)?;
                let i = self.operand(parameters, 1)?;
                let to = self.destination(self.parameter(parameters, 2)?)?;
                self.write_through(to, 64, |d, mask| Op::Meter { meter, i, d, mask })
            }
            "modify_field_with_hash_based_offset" => self.hash(parameters),
            "modify_field_rng_uniform" => {
                let to = self.destination(self.parameter(parameters, 0)?)?;
                let (a, b) = (self.operand(parameters, 1)?, self.operand(parameters, 2)?);
                self.write_through(to, 64, |d, mask| Op::Random { d, a, b, mask })
            }
            _ => self.architecture(op, parameters),
        }
    }

    /// The primitives of v1model, as writes to the architecture's slots.
    fn architecture(&mut self, op: &str, parameters: &[Value]) -> Result<(), LoadError> {
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
                // Kept as 2^40 - length, so that 0 is "no" and the largest is the shortest.
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
    fn list(&mut self, parameters: &[Value], i: usize) -> Result<Slot, LoadError> {
        let value = self.parameter(parameters, i)?;
        match self.names.expr(value)? {
            Expr::Constant(id) => match id.to_u64() {
                Some(id) if id > 0 => self.constant(id),
                _ => Err(self.names.malformed("field list", "its number", value)),
            },
            _ => Err(self.names.malformed("field list", "a constant", value)),
        }
    }

    fn operand(&mut self, parameters: &[Value], i: usize) -> Result<Slot, LoadError> {
        let e = self.names.expr(self.parameter(parameters, i)?)?;
        self.narrow_unsigned(&e)
    }

    fn assign(&mut self, to: Destination, from: &Value) -> Result<(), LoadError> {
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

    /// Stores what is no wider than the field.
    fn store_element(&mut self, stack: u16, i: Slot, offset: u16, width: u32, a: Slot) {
        for limb in 0..limbs(width) {
            self.emit(Op::StoreElement { i, a: a + limb, stack, offset: offset + limb });
        }
    }

    /// An operation that yields `width` bits, into a destination of any width. A width of 64
    /// means that the operation cuts off by itself.
    fn write_through(
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

    fn destination(&mut self, value: &Value) -> Result<Destination, LoadError> {
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
                let part = super::expr::Part::Field(field);
                let (offset, width, _) = self.element_part(stack, part)?;
                Ok(Destination::Element { stack, i, offset, width })
            }
            _ => Err(self.names.malformed("destination", "a field", value)),
        }
    }

    /// The header of a varbit field.
    fn varbit(&mut self, value: &Value) -> Result<u16, LoadError> {
        let e = self.names.expr(value)?;
        let malformed = || self.names.malformed("operand", "a varbit field", value);
        self.names.varbit(&e).ok_or_else(malformed)
    }

    /// Refuses metadata where a header is needed.
    pub(super) fn real_header(&self, header: u16) -> Result<u16, LoadError> {
        let found = &self.program.headers[header as usize];
        if found.metadata {
            return Err(self.names.unsupported("metadata as a header operand,", &found.name));
        }
        Ok(header)
    }

    fn header_ref(&mut self, value: &Value) -> Result<HeaderRef, LoadError> {
        match self.names.header_expr(value)? {
            HeaderExpr::Fixed(header) => Ok(HeaderRef::Fixed(self.real_header(header)?)),
            HeaderExpr::Element { stack, index } => {
                Ok(HeaderRef::Element { stack, i: self.narrow_unsigned(&index)? })
            }
        }
    }

    fn is_metadata(&self, parameters: &[Value]) -> bool {
        let named = |value: &Value| self.names.header_expr(value).ok();
        let first = parameters.first().and_then(named);
        matches!(first, Some(HeaderExpr::Fixed(h)) if self.program.headers[h as usize].metadata)
    }

    /// Copies a structure of metadata, field by field.
    fn copy_metadata(&mut self, parameters: &[Value]) -> Result<(), LoadError> {
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

    fn copy_header(&mut self, d: HeaderRef, a: HeaderRef) -> Result<(), LoadError> {
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

    fn stack_parameter(&self, parameters: &[Value], i: usize) -> Result<u16, LoadError> {
        self.names.stack(self.names.text(self.parameter(parameters, i)?, "value")?)
    }

    fn union_parameter(&self, parameters: &[Value], i: usize) -> Result<Vec<u16>, LoadError> {
        let name = self.names.text(self.parameter(parameters, i)?, "value")?;
        let members = self.names.union(name)?.to_vec();
        members.iter().try_for_each(|&member| self.real_header(member).map(drop))?;
        Ok(members)
    }

    fn hash(&mut self, parameters: &[Value]) -> Result<(), LoadError> {
        let to = self.destination(self.parameter(parameters, 0)?)?;
        let base = self.operand(parameters, 1)?;
        let name = self.names.text(self.parameter(parameters, 2)?, "value")?;
        let calculation = self.names.calculation(name)?;
        let size = self.operand(parameters, 3)?;
        let index = self.program.hashes.len() as u32;
        let call = HashCall { d: NOWHERE, mask: u64::MAX, calculation, base, size };
        self.program.hashes.push(call);
        self.emit(Op::Hash(index));
        let target = match to {
            Destination::Slot { slot, width } if width <= 64 => (slot, mask(width)),
            other => {
                let d = self.temporary(1)?;
                self.write_through(other, 64, |to, keep| Op::Move { d: to, a: d, mask: keep })?;
                (d, u64::MAX)
            }
        };
        let call = &mut self.program.hashes[index as usize];
        (call.d, call.mask) = target;
        Ok(())
    }

    fn log(&mut self, parameters: &[Value]) -> Result<(), LoadError> {
        let format = self.names.text(self.parameter(parameters, 0)?, "value")?.to_owned();
        let mut values = vec![];
        let list = self.parameter(parameters, 1)?["value"].as_array();
        for value in list.into_iter().flatten() {
            let e = self.names.expr(value)?;
            let v = self.lower(&e, None)?;
            values.push((v.slot, v.bits));
        }
        self.program.logs.push(LogCall { format, values });
        let index = (self.program.logs.len() - 1) as u32;
        self.emit(Op::Log(index));
        Ok(())
    }
}
