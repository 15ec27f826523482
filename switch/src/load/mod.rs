//! Loads JSON into a [`Program`]; this is where every name becomes an index.
//!
//! `json` is the shape of the text, `value` a part of it. `names` finds objects, `scan` finds where
//! fields are used, `layout` assigns slots to them. `expressions` reads and lowers expressions;
//! `actions`, `parser`, `pipeline` and `calculation` lower the rest. Anything that the loader does
//! not support is an error that names it.

mod actions;
mod calculation;
mod error;
mod expressions;
mod externs;
mod field_plan;
mod json;
mod layout;
mod loader;
mod names;
mod parser;
mod pipeline;
mod profile;
mod scan;
mod table;
mod value;

pub use error::LoadError;

use crate::ir::Program;
use json::Root;
use names::Names;

/// Loads the output of `p4c-bm2-ss`.
///
/// # Errors
/// A [`LoadError`] that names the missing, malformed or unsupported part.
pub(crate) fn load(text: &str) -> Result<Program, LoadError> {
    let root: Root =
        serde_json::from_str(text).map_err(|error| LoadError::Json(error.to_string()))?;
    let mut names = Names::new(&root)?;
    let usage = scan::scan(&root, &mut names)?;
    let mut loader = layout::lay_out(&root, names, &usage)?;
    loader.errors();
    loader.declare_externs()?;
    loader.declare_actions()?;
    loader.declare_calculations()?;
    loader.standard_metadata()?;
    loader.field_lists()?;
    loader.parsers()?;
    loader.lower_actions()?;
    loader.pipelines()?;
    loader.deparser()?;
    loader.checksums()?;
    let mut program = loader.program;
    program.constants.sort_unstable();
    Ok(program)
}
