//! A loaded program and the machine code that its switches share.

use crate::ir;
use crate::jit::MachineCode;
use crate::load::{self, LoadError};
use std::sync::{Arc, OnceLock};

/// A P4 program, loaded and lowered. Several switches can share one (`Arc<Program>`).
#[derive(Debug)]
pub struct Program {
    pub(crate) ir: Arc<ir::Program>,
    /// Compiled for the first switch that uses it.
    machine_code: OnceLock<Result<Arc<MachineCode>, String>>,
}

impl Program {
    /// Loads the output of `p4c-bm2-ss`.
    ///
    /// # Errors
    /// A [`LoadError`] that names the missing, malformed or unsupported part.
    pub fn from_json(text: &str) -> Result<Program, LoadError> {
        let ir = Arc::new(load::load(text)?);
        Ok(Program { ir, machine_code: OnceLock::new() })
    }

    fn translated(&self) -> &Result<Arc<MachineCode>, String> {
        self.machine_code.get_or_init(|| MachineCode::new(&self.ir).map(Arc::new))
    }

    /// The program's machine code, if it can be compiled.
    pub(crate) fn machine_code(&self) -> Option<Arc<MachineCode>> {
        self.translated().as_ref().ok().cloned()
    }

    /// Why the program can't be compiled to machine code on this machine; `None` if it can.
    pub fn not_native(&self) -> Option<&str> {
        self.translated().as_ref().err().map(String::as_str)
    }
}
