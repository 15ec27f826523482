//! A loaded program and the machine code that its switches share.

use crate::ir;
use crate::jit::MachineCode;
use crate::load::{self, LoadError};
use std::sync::{Arc, OnceLock};

/// A P4 program, loaded and lowered. Several switches can share one (`Arc<Program>`).
#[derive(Debug)]
pub struct Program {
    pub(crate) ir: Arc<ir::Program>,
    /// Made for the first switch that wants it.
    machine_code: OnceLock<Result<Arc<MachineCode>, String>>,
}

impl Program {
    /// Loads what `p4c-bm2-ss` writes.
    ///
    /// # Errors
    /// A [`LoadError`] that names what is missing, malformed or not supported.
    pub fn from_json(text: &str) -> Result<Program, LoadError> {
        let ir = Arc::new(load::load(text)?);
        Ok(Program { ir, machine_code: OnceLock::new() })
    }

    fn translated(&self) -> &Result<Arc<MachineCode>, String> {
        self.machine_code.get_or_init(|| MachineCode::new(&self.ir).map(Arc::new))
    }

    /// The program's machine code, where there can be any.
    pub(crate) fn machine_code(&self) -> Option<Arc<MachineCode>> {
        self.translated().as_ref().ok().cloned()
    }

    /// Why the program can't be machine code on this machine, if that is so.
    pub fn not_native(&self) -> Option<&str> {
        self.translated().as_ref().err().map(String::as_str)
    }
}
