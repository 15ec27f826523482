//! Registers, counters and meters.

use super::entry::TableEntry;
use super::error::ControlError;
use super::matches::{matches, number};
use super::names::find;
use crate::ir::to_hex;
use crate::state::Count;
use crate::state::MeterConfig;
use crate::switch::Switch;
use narrows_common::Time;

impl Switch {
    fn register(&self, name: &str) -> Result<usize, ControlError> {
        let names = self.model.program.registers.iter().map(|register| register.name.as_str());
        find(&"register", name, names)
    }

    /// Reads a register cell of up to 64 bits.
    ///
    /// # Errors
    /// If the cell does not exist, or is wider than 64 bits.
    pub fn read_register(&self, name: &str, index: u64) -> Result<u64, ControlError> {
        let register = self.register(name)?;
        let declared = &self.model.program.registers[register];
        let cells = &self.model.machine.state.registers;
        match cells.cell(register, index) {
            Some([value]) => Ok(*value),
            Some(_) => Err(ControlError::Value {
                object: format!("register '{}'", declared.name),
                value: format!("{} bits", declared.width),
                expected: "at most 64 bits; read_register_hex has no limit".into(),
            }),
            None => Err(self.beyond("register", &declared.name, index, cells.len(register))),
        }
    }

    /// Reads a register cell of any width, in hexadecimal.
    ///
    /// # Errors
    /// If the cell does not exist.
    pub fn read_register_hex(&self, name: &str, index: u64) -> Result<String, ControlError> {
        let register = self.register(name)?;
        let cells = &self.model.machine.state.registers;
        let declared = &self.model.program.registers[register];
        match cells.cell(register, index) {
            Some(limbs) => Ok(to_hex(limbs)),
            None => Err(self.beyond("register", &declared.name, index, cells.len(register))),
        }
    }

    /// Reads `count` register cells, starting at `first`, in hexadecimal.
    ///
    /// # Errors
    /// If the register does not exist, or is too short.
    pub fn read_registers(
        &self,
        name: &str,
        first: u64,
        count: u64,
    ) -> Result<Vec<String>, ControlError> {
        Switch::read_registers_of(&[self], name, first, count)
    }

    /// Reads `count` register cells, starting at `first`, combined over all pipelines, in
    /// hexadecimal. A combined value is the last written value plus each pipeline's changes since.
    /// So a cell that one pipeline changes has that pipeline's value; a count or a sum is the
    /// total.
    ///
    /// # Errors
    /// If the register does not exist, or is too short.
    pub fn read_registers_of(
        pipelines: &[&Switch],
        name: &str,
        first: u64,
        count: u64,
    ) -> Result<Vec<String>, ControlError> {
        let [whole, others @ ..] = pipelines else { return Ok(vec![]) };
        let register = whole.register_cells(name, first, count)?;
        let value = |index: u64| {
            let mut sum = whole.model.machine.state.registers.cell(register, index)?.to_vec();
            for other in others {
                other.model.machine.state.registers.add_changes(register, index, &mut sum);
            }
            Some(to_hex(&sum))
        };
        Ok((first..first + count).filter_map(value).collect())
    }

    /// The number of a register that has `count` cells from `first` on.
    fn register_cells(&self, name: &str, first: u64, count: u64) -> Result<usize, ControlError> {
        let register = self.register(name)?;
        let (last, size) =
            (first.saturating_add(count), self.model.machine.state.registers.len(register));
        if last > size {
            let name = &self.model.program.registers[register].name;
            return Err(self.beyond("register", name, last - 1, size));
        }
        Ok(register)
    }

    /// Writes a register cell.
    ///
    /// # Errors
    /// If the cell does not exist, or the value is too wide.
    pub fn write_register(
        &mut self,
        name: &str,
        index: u64,
        value: &str,
    ) -> Result<(), ControlError> {
        let register = self.register(name)?;
        let declared = &self.model.program.registers[register];
        let object = || format!("register '{}'", declared.name);
        let value = number(&object, value, declared.width)?;
        if self.model.machine.state.registers.put(register, index, &value) {
            return Ok(());
        }
        let size = self.model.machine.state.registers.len(register);
        Err(self.beyond("register", &self.model.program.registers[register].name, index, size))
    }

    fn beyond(&self, kind: &'static str, name: &str, index: u64, size: u64) -> ControlError {
        ControlError::Index { kind, name: name.into(), index, size }
    }

    /// Reads a cell of an indirect counter.
    ///
    /// # Errors
    /// If the cell does not exist.
    pub fn read_counter(&self, name: &str, index: u64) -> Result<Count, ControlError> {
        let names = self.model.program.counters.iter().map(|counter| counter.name.as_str());
        let counter = find(&"counter", name, names)?;
        let cells = &self.model.machine.state.counters[counter];
        match cells.get(index as usize) {
            Some(count) => Ok(*count),
            None => {
                let name = &self.model.program.counters[counter].name;
                Err(self.beyond("counter", name, index, cells.len() as u64))
            }
        }
    }

    /// Reads `count` cells of an indirect counter, starting at `first`.
    ///
    /// # Errors
    /// If the counter does not exist, or is too short.
    pub fn read_counters(
        &self,
        name: &str,
        first: u64,
        count: u64,
    ) -> Result<Vec<Count>, ControlError> {
        let names = self.model.program.counters.iter().map(|counter| counter.name.as_str());
        let counter = find(&"counter", name, names)?;
        let cells = &self.model.machine.state.counters[counter];
        let last = first.saturating_add(count);
        match cells.get(first as usize..last as usize) {
            Some(cells) => Ok(cells.to_vec()),
            None => {
                let name = &self.model.program.counters[counter].name;
                Err(self.beyond("counter", name, last - 1, cells.len() as u64))
            }
        }
    }

    /// Sets a cell of an indirect counter.
    ///
    /// # Errors
    /// If the cell does not exist.
    pub fn write_counter(
        &mut self,
        name: &str,
        index: u64,
        count: Count,
    ) -> Result<(), ControlError> {
        self.read_counter(name, index)?;
        let names = self.model.program.counters.iter().map(|counter| counter.name.as_str());
        let counter = find(&"counter", name, names)?;
        self.model.machine.state.counters[counter][index as usize] = count;
        Ok(())
    }

    /// Configures a cell of an indirect meter; `None` makes it always green.
    ///
    /// # Errors
    /// If the cell does not exist.
    pub fn configure_meter(
        &mut self,
        now: Time,
        name: &str,
        index: u64,
        config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        let names = self.model.program.meters.iter().map(|meter| meter.name.as_str());
        let meter = find(&"meter", name, names)?;
        let cells = &mut self.model.machine.state.meters[meter];
        let size = cells.len() as u64;
        match cells.get_mut(index as usize) {
            Some(cell) => {
                cell.configure(now, config);
                Ok(())
            }
            None => Err(self.beyond("meter", &self.model.program.meters[meter].name, index, size)),
        }
    }

    /// Configures the direct meter of the entry with these matches.
    ///
    /// # Errors
    /// If the entry does not exist, or the table has no direct meter.
    pub fn configure_entry_meter(
        &mut self,
        now: Time,
        entry: &TableEntry,
        config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        let table = self.table(&entry.table)?;
        let declared = &self.model.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        let at = self.model.machine.state.tables[table].position(&matches, entry.priority);
        let cell =
            at.and_then(|at| self.model.machine.state.direct_meters[table].get_mut(at as usize));
        match cell {
            Some(cell) => {
                cell.configure(now, config);
                Ok(())
            }
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }
}
