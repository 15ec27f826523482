//! Registers, counters and meters; the architecture's metadata; lists of fields.

use super::error::LoadError;
use super::expressions::Expr;
use super::json::FieldList as JsonList;
use super::loader::Loader;
use crate::ir::{
    COUNTER_BYTES, CounterArray, FieldList, LIMB_BYTES, METER_BYTES, MeterArray, NOWHERE, Register,
    Slot, StandardMetadata, limbs, mask,
};
use narrows_common::budgets;

impl Loader<'_> {
    /// Declares registers, counters and meters; tables bind the direct ones later.
    pub(crate) fn declare_externs(&mut self) -> Result<(), LoadError> {
        if let Some(instance) = self.root.extern_instances.first() {
            self.names.location = format!("extern instance '{}'", instance.name);
            return Err(self.names.unsupported("the extern type", &instance.kind));
        }
        let mut taken = 0;
        for register in &self.root.register_arrays {
            self.names.location = format!("register array '{}'", register.name);
            let width = register.bitwidth;
            if width == 0 || width > 16_384 {
                return Err(self.names.malformed("bitwidth", "1 to 16,384", width));
            }
            let limbs = register.size.saturating_mul(width.div_ceil(64));
            self.take_state(&mut taken, limbs, LIMB_BYTES)?;
            self.program.registers.push(Register {
                name: register.name.clone(),
                size: register.size,
                width: width as u32,
            });
        }
        for counter in &self.root.counter_arrays {
            self.names.location = format!("counter array '{}'", counter.name);
            let size = if counter.is_direct { 0 } else { counter.size.unwrap_or(0) };
            self.take_state(&mut taken, size, COUNTER_BYTES)?;
            self.program.counters.push(CounterArray {
                name: counter.name.clone(),
                size,
                table: None,
            });
        }
        for meter in &self.root.meter_arrays {
            self.names.location = format!("meter array '{}'", meter.name);
            let size = if meter.is_direct { 0 } else { meter.size };
            self.take_state(&mut taken, size, METER_BYTES)?;
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
                size,
                bytes,
                table: None,
                target,
                target_mask,
            });
        }
        Ok(())
    }

    /// Adds cells of so many bytes each to what the program's arrays take.
    fn take_state(&self, taken: &mut u64, cells: u64, each: u64) -> Result<(), LoadError> {
        *taken = taken.saturating_add(cells.saturating_mul(each));
        let most = budgets::PROGRAM_STATE_BYTES;
        if *taken > most {
            let what = "bytes of registers, counters and meters up to here";
            return Err(self.names.too_big(format!("{taken} {what}: expected at most {most}")));
        }
        Ok(())
    }

    /// Finds the architecture's metadata.
    pub(crate) fn standard_metadata(&mut self) -> Result<(), LoadError> {
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

    pub(crate) fn field_lists(&mut self) -> Result<(), LoadError> {
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

    pub(crate) fn field_list(&mut self, list: &JsonList) -> Result<FieldList, LoadError> {
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
}
