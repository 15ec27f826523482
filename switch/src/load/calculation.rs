//! Externs, field lists, calculations and checksums.

use super::error::LoadError;
use super::expr::Expr;
use super::json::{CalculationInput, FieldList as JsonList};
use super::loader::Loader;
use crate::ir::{
    Algorithm, Block, Calculation, Checksum, CounterArray, FieldList, FieldSum, Input, Integer,
    MeterArray, NOWHERE, Op, Register, Slot, StandardMetadata, limbs, mask,
};

/// Cells of one register, counter or meter array, at most.
const CELLS_MAX: u64 = 1 << 28;

impl Loader<'_> {
    /// Registers, counters and meters; tables bind direct ones later.
    pub(super) fn declare_externs(&mut self) -> Result<(), LoadError> {
        if let Some(instance) = self.root.extern_instances.first() {
            self.names.location = format!("extern instance '{}'", instance.name);
            return Err(self.names.unsupported("the extern type", &instance.kind));
        }
        for register in &self.root.register_arrays {
            self.names.location = format!("register array '{}'", register.name);
            let width = register.bitwidth;
            if width == 0 || width > 16_384 {
                return Err(self.names.malformed("bitwidth", "1 to 16,384", width));
            }
            self.check_cells(register.size.saturating_mul(width.div_ceil(64)))?;
            self.program.registers.push(Register {
                name: register.name.clone(),
                size: register.size,
                width: width as u32,
            });
        }
        for counter in &self.root.counter_arrays {
            self.names.location = format!("counter array '{}'", counter.name);
            let size = if counter.is_direct { 0 } else { counter.size.unwrap_or(0) };
            self.check_cells(size)?;
            self.program.counters.push(CounterArray {
                name: counter.name.clone(),
                size,
                table: None,
            });
        }
        for meter in &self.root.meter_arrays {
            self.names.location = format!("meter array '{}'", meter.name);
            self.check_cells(meter.size)?;
            let bytes = match meter.kind.as_str() {
                "bytes" => true,
                "packets" => false,
                other => return Err(self.names.unsupported("the meter type", other)),
            };
            if meter.rate_count.is_some_and(|rates| rates != 2) {
                return Err(self.names.malformed("rate_count", "2", meter.rate_count));
            }
            let (mut target, mut target_mask) = (NOWHERE, 0);
            if let Some(pair) = &meter.result_target {
                let header = self.names.header(self.names.string(&pair[0])?)?;
                let field = self.names.header_field(header, self.names.string(&pair[1])?)?;
                let field = &self.program.headers[header as usize].fields[field as usize];
                (target, target_mask) = (field.slot, mask(field.width));
            }
            self.program.meters.push(MeterArray {
                name: meter.name.clone(),
                size: if meter.is_direct { 0 } else { meter.size },
                bytes,
                table: None,
                target,
                target_mask,
            });
        }
        Ok(())
    }

    fn check_cells(&self, cells: u64) -> Result<(), LoadError> {
        if cells > CELLS_MAX {
            return Err(self.names.too_big(format!("{cells} cells, 268,435,456 are possible")));
        }
        Ok(())
    }

    /// Finds the architecture's metadata.
    pub(super) fn standard_metadata(&mut self) -> Result<(), LoadError> {
        self.names.location = "standard metadata".into();
        let find = |header: &str, field: &str| {
            let (header, field) = self.root.aliased(header, field);
            let key = (header.to_owned(), field.to_owned());
            self.program.fields.get(&key).copied().filter(|&(_, width)| width <= 64)
        };
        match StandardMetadata::find(find) {
            Ok(found) => self.program.standard = found,
            Err(name) => return Err(self.names.unknown("field", name)),
        }
        Ok(())
    }

    pub(super) fn field_lists(&mut self) -> Result<(), LoadError> {
        let root = self.root;
        for list in &root.field_lists {
            let fields = self.field_list(list)?;
            self.program.field_lists.insert(list.id, fields);
        }
        for list in &root.learn_lists {
            let fields = self.field_list(list)?;
            self.program.digests.insert(list.id, fields);
        }
        Ok(())
    }

    fn field_list(&mut self, list: &JsonList) -> Result<FieldList, LoadError> {
        self.names.location = format!("field list '{}'", list.name);
        let mut fields = vec![];
        for element in &list.elements {
            match self.names.expr(element)? {
                Expr::Field { header, field } => {
                    let field = &self.program.headers[header as usize].fields[field as usize];
                    if field.varbit || field.slot == NOWHERE {
                        return Err(self.names.unsupported("in a list, the field", &field.name));
                    }
                    fields.push((field.slot, field.width));
                }
                Expr::Valid(header) if !self.program.headers[header as usize].metadata => {
                    fields.push((self.program.headers[header as usize].valid(), 1));
                }
                Expr::Constant(constant) => {
                    let limbs = constant.limbs.len().max(1);
                    let slot = self.constant_limbs(constant.to_limbs(limbs))?;
                    fields.push((slot, limbs as u32 * 64));
                }
                _ => return Err(self.names.malformed("element", "a field", element)),
            }
        }
        let all = |&(slot, width): &(Slot, u32)| slot..slot + limbs(width);
        let slots = fields.iter().flat_map(all).collect();
        Ok(FieldList { name: list.name.clone(), fields, slots })
    }

    pub(super) fn declare_calculations(&mut self) -> Result<(), LoadError> {
        let root = self.root;
        for calculation in &root.calculations {
            self.names.location = format!("calculation '{}'", calculation.name);
            let found = self.calculation(&calculation.algo, &calculation.input)?;
            self.program.calculations.push(found);
        }
        Ok(())
    }

    pub(super) fn calculation(
        &mut self,
        algorithm: &str,
        input: &[CalculationInput],
    ) -> Result<Calculation, LoadError> {
        let Some(algorithm) = Algorithm::from_name(algorithm) else {
            return Err(self.names.unsupported("the hash algorithm", algorithm));
        };
        let (mut inputs, mut payload) = (vec![], false);
        for part in input {
            match part.kind.as_str() {
                "payload" => payload = true,
                "header" => {
                    let header = self.names.header(self.names.string(&part.value)?)?;
                    inputs.push(Input::Header { header: self.real_header(header)? });
                }
                "hexstr" => {
                    let constant = part.value.as_str().and_then(Integer::from_hex);
                    match (constant, part.bitwidth) {
                        (Some(constant), Some(width @ 1..=16_384)) => {
                            let count = crate::ir::limbs(width as u32) as usize;
                            let slot = self.constant_limbs(constant.to_limbs(count))?;
                            inputs.push(Input::Constant { slot, width: width as u32 });
                        }
                        _ => {
                            let expected = "a number and its bitwidth";
                            return Err(self.names.malformed("hexstr", expected, &part.value));
                        }
                    }
                }
                "field" => inputs.push(self.field_input(&part.value)?),
                other => return Err(self.names.unsupported("an input of type", other)),
            }
        }
        let sum = match (algorithm, payload) {
            (Algorithm::Csum16, false) => field_sum(&inputs),
            _ => None,
        };
        Ok(Calculation { algorithm, inputs, payload, sum })
    }

    fn field_input(&mut self, value: &serde_json::Value) -> Result<Input, LoadError> {
        let header = self.names.header(self.names.string(&value[0])?)?;
        let name = self.names.string(&value[1])?;
        let metadata = self.program.headers[header as usize].metadata;
        if name == "$valid$" {
            self.real_header(header)?;
            let slot = self.program.headers[header as usize].valid();
            return Ok(Input::Field { header: None, slot, width: 1 });
        }
        let field = self.names.header_field(header, name)?;
        let field = &self.program.headers[header as usize].fields[field as usize];
        if field.varbit {
            return Ok(Input::Varbit { header });
        }
        let header = (!metadata).then_some(header);
        Ok(Input::Field { header, slot: field.slot, width: field.width })
    }

    /// Lowers the checks after the parser, and the updates before the deparser.
    pub(super) fn checksums(&mut self) -> Result<(), LoadError> {
        self.program.starts[Block::Verify as usize] = self.here();
        self.checksum_code(true)?;
        self.program.starts[Block::Update as usize] = self.here();
        self.checksum_code(false)
    }

    fn checksum_code(&mut self, verify: bool) -> Result<(), LoadError> {
        let root = self.root;
        let wanted = |checksum: &&super::json::Checksum| {
            if verify { checksum.verify } else { checksum.update }
        };
        for checksum in root.checksums.iter().filter(wanted) {
            self.names.location = format!("checksum '{}'", checksum.name);
            let calculation = self.names.calculation(&checksum.calculation)?;
            let header = self.names.header(&checksum.target.0)?;
            let field = self.names.header_field(header, &checksum.target.1)?;
            let holder = &self.program.headers[header as usize];
            let field = &holder.fields[field as usize];
            if field.varbit || field.width > 64 {
                return Err(self.names.unsupported("a checksum in the field", &field.name));
            }
            let (target, mask) = (field.slot, mask(field.width));
            let valid = if holder.metadata { NOWHERE } else { holder.valid() };
            let valid = if valid == NOWHERE { self.constant(1)? } else { valid };
            let skip = match &checksum.if_cond {
                None | Some(serde_json::Value::Null) => None,
                Some(condition) => {
                    let condition = self.names.expr(condition)?;
                    Some(self.branch_unless(&condition)?)
                }
            };
            self.program.checksums.push(Checksum { valid, target, mask, calculation });
            let index = (self.program.checksums.len() - 1) as u32;
            let op = if verify { Op::VerifyChecksum(index) } else { Op::UpdateChecksum(index) };
            self.emit(op);
            if let Some(skip) = skip {
                let here = self.here();
                self.patch(skip, here);
            }
            self.statement_ends();
        }
        self.emit(Op::Halt);
        Ok(())
    }
}

/// A one's complement sum over fields of one header, as shifts and additions: the sum of 16-bit
/// words is the sum of the fields, each moved to where it lies in its words (RFC 1071).
fn field_sum(inputs: &[Input]) -> Option<FieldSum> {
    let Some(Input::Field { header: Some(header), .. }) = inputs.first() else { return None };
    let (mut fields, mut end, mut bound) = (vec![], 0u32, 0u64);
    for input in inputs {
        match input {
            Input::Field { header: Some(of), slot, width } if of == header && *width <= 48 => {
                end += width;
                let shift = (16 - end % 16) % 16;
                // The sum of all must fit a word.
                bound = bound.checked_add(1 << (width + shift))?;
                fields.push((*slot, shift as u8));
            }
            _ => return None,
        }
    }
    Some(FieldSum { header: *header, fields })
}
