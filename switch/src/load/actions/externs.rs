//! Primitives of registers, counters, meters, hashes, random numbers and the log.

use super::destination::Destination;
use crate::ir::{HashCall, LogCall, NOWHERE, Op, limbs, mask};
use crate::load::error::LoadError;
use crate::load::loader::Loader;
use crate::load::value::Value;

impl Loader<'_> {
    /// Lowers a primitive of registers, counters, meters, hashes, random numbers or the log.
    pub(crate) fn extern_primitive(
        &mut self,
        op: &str,
        parameters: &[Value],
    ) -> Result<(), LoadError> {
        match op {
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

    pub(crate) fn hash(&mut self, parameters: &[Value]) -> Result<(), LoadError> {
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

    pub(crate) fn log(&mut self, parameters: &[Value]) -> Result<(), LoadError> {
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
