//! Calculations and checksums.

use super::error::LoadError;
use super::json::CalculationInput;
use super::loader::Loader;
use crate::ir::{
    Algorithm, Block, Calculation, Checksum, FieldSum, Input, Integer, NOWHERE, Op, SHORT_BYTES,
    limbs, mask,
};

impl Loader<'_> {
    pub(crate) fn declare_calculations(&mut self) -> Result<(), LoadError> {
        let root = self.root;
        for calculation in &root.calculations {
            self.names.location = format!("calculation '{}'", calculation.name);
            let found = self.calculation(&calculation.algo, &calculation.input)?;
            self.program.calculations.push(found);
        }
        Ok(())
    }

    pub(crate) fn calculation(
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
                            let count = limbs(width as u32) as usize;
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
        let is_short = !payload && is_short(&inputs);
        Ok(Calculation { algorithm, inputs, payload, sum, is_short })
    }

    pub(crate) fn field_input(&mut self, value: &super::value::Value) -> Result<Input, LoadError> {
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

    /// Lowers the checksums verified after the parser, and those updated before the deparser.
    pub(crate) fn checksums(&mut self) -> Result<(), LoadError> {
        self.program.starts[Block::Verify as usize] = self.here();
        self.checksum_code(true)?;
        self.program.starts[Block::Update as usize] = self.here();
        self.checksum_code(false)
    }

    pub(crate) fn checksum_code(&mut self, verify: bool) -> Result<(), LoadError> {
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
                None | Some(super::value::Value::Null) => None,
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

/// Whether the inputs fit into an integer of 128 bits, and each into a slot.
fn is_short(inputs: &[Input]) -> bool {
    let width = |input: &Input| match *input {
        Input::Field { width, .. } | Input::Constant { width, .. } if width <= 64 => Some(width),
        _ => None,
    };
    let widths = inputs.iter().map(width);
    widths.sum::<Option<u32>>().is_some_and(|bits| bits <= 8 * SHORT_BYTES as u32)
}

/// A one's complement sum over fields of one header, as shifts and additions. The sum of 16-bit
/// words equals the sum of the fields, each shifted to its position in its words (RFC 1071).
fn field_sum(inputs: &[Input]) -> Option<FieldSum> {
    let Some(Input::Field { header: Some(header), .. }) = inputs.first() else { return None };
    let (mut fields, mut end, mut bound) = (vec![], 0u32, 0u64);
    for input in inputs {
        match input {
            Input::Field { header: Some(of), slot, width } if of == header && *width <= 48 => {
                end += width;
                let shift = (16 - end % 16) % 16;
                // The sum of all fields must fit into a word.
                bound = bound.checked_add(1 << (width + shift))?;
                fields.push((*slot, shift as u8));
            }
            _ => return None,
        }
    }
    Some(FieldSum { header: *header, fields })
}
