//! Lowers the parser's states.

use super::error::LoadError;
use super::json::{ParseState, ParserOp, Transition};
use super::loader::Loader;
use super::value::Value;
use crate::ir::{Block, Case, Integer, Op, Pc, Select, Slot, ValueSet, limbs, mask};
use std::collections::BTreeMap;

impl Loader<'_> {
    pub(super) fn parsers(&mut self) -> Result<(), LoadError> {
        self.names.location = "parsers".into();
        let [parser] = self.root.parsers.as_slice() else {
            let found = self.root.parsers.len();
            return Err(self.names.malformed("parsers", "one parser", found));
        };
        for set in &self.root.parse_vsets {
            self.program.value_sets.push(ValueSet { name: set.name.clone(), parts: vec![] });
        }
        let names = parser.parse_states.iter().enumerate();
        let states: BTreeMap<&str, usize> =
            names.map(|(i, state)| (state.name.as_str(), i)).collect();
        let mut starts: Vec<Pc> = vec![];
        let mut jumps = vec![];
        for state in &parser.parse_states {
            self.names.location = format!("parser '{}', state '{}'", parser.name, state.name);
            starts.push(self.here());
            self.state(state, &states, &mut jumps)?;
        }
        // Up to here a select's targets are state numbers plus 1, with 0 for the end.
        let start = |state: Pc| if state == 0 { 0 } else { starts[state as usize - 1] };
        for select in &mut self.program.selects {
            select.default = start(select.default);
            for case in &mut select.cases {
                let (Case::Value { next, .. } | Case::ValueSet { next, .. }) = case;
                *next = start(*next);
            }
        }
        for (at, state) in jumps {
            let target = start(state);
            self.patch(at, target);
        }
        self.names.location = format!("parser '{}'", parser.name);
        let first = self.next_state(&parser.init_state, &states)?;
        self.program.starts[Block::Parser as usize] = start(first);
        Ok(())
    }

    fn next_state(
        &self,
        name: &Option<String>,
        states: &BTreeMap<&str, usize>,
    ) -> Result<Pc, LoadError> {
        match name {
            None => Ok(0),
            Some(name) => match states.get(name.as_str()) {
                Some(&state) => Ok(state as Pc + 1),
                None => Err(self.names.unknown("parser state", name)),
            },
        }
    }

    fn state(
        &mut self,
        state: &ParseState,
        states: &BTreeMap<&str, usize>,
        jumps: &mut Vec<(Pc, Pc)>,
    ) -> Result<(), LoadError> {
        for op in &state.parser_ops {
            self.parser_op(op)?;
            self.statement_ends();
        }
        let (mut key, mut widths) = (vec![], vec![]);
        for part in &state.transition_key {
            let (slot, width) = self.key_part(part)?;
            key.extend((0..limbs(width)).map(|limb| slot + limb));
            widths.push(width);
        }
        let (mut cases, mut default) = (vec![], 0);
        for transition in &state.transitions {
            let next = self.next_state(&transition.next_state, states)?;
            match transition.kind.as_deref() {
                Some("hexstr") => {
                    let parts = self.case(transition, &widths)?;
                    cases.push(Case::Value { parts, next });
                }
                Some("parse_vset") => {
                    let name = transition.value.as_deref().unwrap_or("");
                    let set = self.names.value_set(name)?;
                    self.value_set(set, &widths)?;
                    cases.push(Case::ValueSet { set, next });
                }
                Some("default") | None => default = next,
                Some(other) => {
                    return Err(self.names.unsupported("a transition of type", other));
                }
            }
        }
        if cases.is_empty() {
            jumps.push((self.emit(Op::Jump(0)), default));
        } else {
            self.program.selects.push(Select { key, cases, default });
            let index = (self.program.selects.len() - 1) as u32;
            self.emit(Op::SelectState(index));
        }
        self.statement_ends();
        Ok(())
    }

    fn value_set(&mut self, set: u16, widths: &[u32]) -> Result<(), LoadError> {
        let found = &mut self.program.value_sets[set as usize];
        if found.parts.is_empty() {
            found.parts = widths.to_vec();
        }
        if found.parts != widths {
            let name = found.name.clone();
            return Err(self.names.unsupported("keys of differing widths for value set", name));
        }
        Ok(())
    }

    /// A part of a select's key: its slot and width.
    fn key_part(&mut self, part: &Value) -> Result<(Slot, u32), LoadError> {
        if part["type"] == "union_stack_field" {
            return Err(self.names.unsupported("a select on", "a field of a union stack"));
        }
        let e = self.names.expr(part)?;
        let exact = self.lower(&e, None)?;
        if !exact.signed {
            return Ok((exact.slot, exact.bits));
        }
        // Keys are compared as raw bits.
        let d = self.temporary(limbs(exact.bits))?;
        self.lower_into(&e, d, exact.bits)?;
        Ok((d, exact.bits))
    }

    /// Value and mask of a transition, split into the parts of the key. In the JSON each part fills
    /// whole bytes.
    fn case(&self, transition: &Transition, widths: &[u32]) -> Result<Vec<(u64, u64)>, LoadError> {
        let total: u32 = widths.iter().map(|width| width.div_ceil(8)).sum();
        let read = |text: &Option<String>, what: &str| {
            let integer = text.as_deref().and_then(Integer::from_hex);
            match integer.and_then(|integer| integer.to_width(total * 8)) {
                Some(limbs) => Ok(limbs),
                None => {
                    let expected = format!("a number of {total} bytes");
                    Err(self.names.malformed(what, expected, text))
                }
            }
        };
        let value = read(&transition.value, "transition value")?;
        let masks = transition.mask.as_ref().map(|_| read(&transition.mask, "transition mask"));
        let masks = masks.transpose()?;
        let (mut parts, mut above) = (vec![], total * 8);
        for &width in widths {
            above -= width.div_ceil(8) * 8;
            for limb in 0..u32::from(limbs(width)) {
                let keep = mask(width - limb * 64);
                let from = above + limb * 64;
                let value = bits_at(&value, from) & keep;
                let mask = masks.as_ref().map_or(keep, |masks| bits_at(masks, from) & keep);
                parts.push((value & mask, mask));
            }
        }
        Ok(parts)
    }

    fn parser_op(&mut self, op: &ParserOp) -> Result<(), LoadError> {
        let none = Value::Null;
        let parameter = |i: usize| op.parameters.get(i).unwrap_or(&none);
        match op.op.as_str() {
            "extract" => self.extract(parameter(0), None),
            "extract_VL" => {
                let length = self.names.expr(parameter(1))?;
                let bits = self.narrow_unsigned(&length)?;
                self.extract(parameter(0), Some(bits))
            }
            "set" => self.primitive("set", &op.parameters),
            "verify" => {
                let condition = self.names.expr(parameter(0))?;
                let a = self.lower(&condition, None)?.slot;
                let code = self.names.expr(parameter(1))?;
                let code = self.narrow_unsigned(&code)?;
                self.emit(Op::Verify { a, code });
                Ok(())
            }
            "advance" => {
                let bits = self.names.expr(parameter(0))?;
                let bits = self.narrow_unsigned(&bits)?;
                self.emit(Op::Advance { bits });
                Ok(())
            }
            "shift" => match parameter(0).as_u64() {
                Some(bytes) if bytes < 1 << 32 => {
                    let bits = self.constant(bytes * 8)?;
                    self.emit(Op::Advance { bits });
                    Ok(())
                }
                _ => Err(self.names.malformed("shift", "a number of bytes", parameter(0))),
            },
            "primitive" => {
                let call = parameter(0);
                let name = self.names.text(call, "op")?;
                let list = call["parameters"].as_array().unwrap_or(&[]);
                if name.starts_with("_jump") {
                    return Err(self.names.unsupported("in a parser, the primitive", name));
                }
                self.primitive(name, list)
            }
            other => Err(self.names.unsupported("the parser operation", other)),
        }
    }

    fn extract(&mut self, target: &Value, bits: Option<Slot>) -> Result<(), LoadError> {
        let value = &target["value"];
        let (first, op) = match self.names.text(target, "type")? {
            "regular" => {
                let header = self.names.header(self.names.string(value)?)?;
                self.real_header(header)?;
                let op = match bits {
                    None => Op::Extract { header },
                    Some(bits) => Op::ExtractVarbit { header, bits },
                };
                (header, op)
            }
            "stack" => {
                let stack = self.names.stack(self.names.string(value)?)?;
                let op = match bits {
                    None => Op::ExtractNext { stack },
                    Some(bits) => Op::ExtractNextVarbit { stack, bits },
                };
                (self.program.stacks[stack as usize].headers[0], op)
            }
            "union_stack" => {
                let (name, member) = (self.names.string(&value[0])?, &value[1]);
                let stack = self.names.union_stack(name)?;
                let member = self.names.union_member(stack, self.names.string(member)?)?;
                if bits.is_some() {
                    return Err(self.names.unsupported("a varbit in the union stack", name));
                }
                let first = self.program.union_stacks[stack as usize].unions[0][member as usize];
                (first, Op::ExtractNextUnion { stack, member })
            }
            other => return Err(self.names.unsupported("an extraction of type", other)),
        };
        let header = &self.program.headers[first as usize];
        if header.has_varbit != bits.is_some() {
            return Err(self.names.malformed(
                format!("extraction of '{}'", header.name),
                "a length if and only if it has a varbit",
                bits.is_some(),
            ));
        }
        self.emit(op);
        Ok(())
    }
}

/// 64 bits of a long number, starting at bit `from`.
fn bits_at(limbs: &[u64], from: u32) -> u64 {
    let (limb, shift) = ((from / 64) as usize, from % 64);
    let low = limbs.get(limb).copied().unwrap_or(0) >> shift;
    let high = limbs.get(limb + 1).copied().unwrap_or(0);
    if shift == 0 { low } else { low | high << (64 - shift) }
}
