//! A loaded program and the machine code that its switches share.

use crate::ir;
use crate::jit::{MachineCode, TablesInUse};
use crate::load::{self, LoadError};
use std::sync::{Arc, OnceLock};

/// A P4 program, loaded and lowered. Several switches can share one (`Arc<Program>`).
#[derive(Debug)]
pub struct Program {
    pub(crate) ir: Arc<ir::Program>,
    /// For the tables that were in use when a switch first asked.
    partial_code: OnceLock<Result<Arc<MachineCode>, String>>,
    /// For all tables.
    whole_code: OnceLock<Result<Arc<MachineCode>, String>>,
    not_native: OnceLock<Option<String>>,
}

impl Program {
    /// Loads the output of `p4c-bm2-ss`.
    ///
    /// # Errors
    /// A [`LoadError`] that names the missing, malformed or unsupported part.
    pub fn from_json(text: &str) -> Result<Program, LoadError> {
        let ir = Arc::new(load::load(text)?);
        Ok(Program {
            ir,
            partial_code: OnceLock::new(),
            whole_code: OnceLock::new(),
            not_native: OnceLock::new(),
        })
    }

    /// Machine code for these tables or more, if it can be compiled. All switches share the code of
    /// the first one if it looks up their tables, and otherwise that for all tables.
    pub(crate) fn machine_code(&self, in_use: TablesInUse) -> Option<Arc<MachineCode>> {
        if self.whole_code.get().is_some() {
            return self.whole_machine_code();
        }
        let make = || MachineCode::new(&self.ir, in_use.clone()).map(Arc::new);
        match self.partial_code.get_or_init(make) {
            Ok(code) if code.covers(&in_use) => Some(code.clone()),
            _ => self.whole_machine_code(),
        }
    }

    /// Machine code for all tables, if it can be compiled.
    pub(crate) fn whole_machine_code(&self) -> Option<Arc<MachineCode>> {
        let make = || MachineCode::new(&self.ir, TablesInUse::all(&self.ir)).map(Arc::new);
        self.whole_code.get_or_init(make).as_ref().ok().cloned()
    }

    /// Why the program can't be compiled to machine code on this machine; `None` if it can, as far
    /// as that is known before it is compiled.
    pub fn not_native(&self) -> Option<&str> {
        if let Some(Err(reason)) = self.whole_code.get() {
            return Some(reason);
        }
        self.not_native.get_or_init(|| MachineCode::check(&self.ir).err()).as_deref()
    }
}
