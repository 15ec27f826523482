//! Verilator's library, which makes cores.

use crate::api::Api;
use crate::core::VerilatedCore;
use narrows_queueing::PortCore;
use std::path::Path;
use std::sync::Arc;

/// Verilator's library of the decision core.
#[derive(Clone)]
pub struct CoreLibrary(Arc<Api>);

impl CoreLibrary {
    /// Loads the library at a path.
    ///
    /// # Errors
    /// If it cannot be loaded, or its functions are not those of this version.
    pub fn load(path: &Path) -> Result<Self, String> {
        Api::load(path).map(|api| CoreLibrary(Arc::new(api)))
    }

    /// A new core: an empty queue and an idle line.
    pub fn core(&self) -> Box<dyn PortCore> {
        Box::new(VerilatedCore::new(self.0.clone()))
    }
}
