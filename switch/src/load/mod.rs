//! From JSON to a [`Program`]: every name becomes an index here, and nowhere else.
//!
//! `names` finds objects, `scan` finds which fields are used where, `layout` gives them slots,
//! `expr` reads expressions, `arith` lowers them; `primitive`, `parser`, `pipeline` and
//! `calculation` lower the rest. What is not understood is an error that names it.

mod arith;
mod calculation;
mod expr;
pub(crate) mod json;
mod layout;
mod names;
mod parser;
mod pipeline;
mod primitive;
pub(crate) mod profile;
mod scan;
mod table;

pub(crate) use names::Names;

use crate::ir::op::{Op, Pc, Slot, Wide};
use crate::ir::program::Program;
use crate::load::json::Root;
use std::collections::BTreeMap;

/// Why a JSON program was refused. `location` says where in the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It is not JSON, or lacks what bmv2's format requires.
    #[error("not a bmv2 JSON program: {0}")]
    Json(String),
    /// A name that nothing in the program bears.
    #[error("{location}: there is no {kind} named '{name}'")]
    Unknown {
        /// Where.
        location: String,
        /// What it should be.
        kind: &'static str,
        /// The name found.
        name: String,
    },
    /// Well-formed, but not what this target can do.
    #[error("{location}: {what} '{name}' is not supported")]
    Unsupported {
        /// Where.
        location: String,
        /// What sort of thing.
        what: String,
        /// Its name.
        name: String,
    },
    /// A value of the wrong shape.
    #[error("{location}: {what}: expected {expected}, found {found}")]
    Malformed {
        /// Where.
        location: String,
        /// Which value.
        what: String,
        /// What was expected.
        expected: String,
        /// What was found, shortened.
        found: String,
    },
    /// It needs more than this target has.
    #[error("{location}: too big: {what}")]
    TooBig {
        /// Where.
        location: String,
        /// What there is too much of.
        what: String,
    },
}

/// What has been read of a program so far.
pub(crate) struct Loader<'a> {
    pub root: &'a Root,
    pub names: Names,
    pub program: Program,
    /// The current action's parameters: slot and width.
    pub locals: Vec<(Slot, u32)>,
    /// Next free temporary.
    pub temporary: u32,
    pub temporaries_start: u32,
    /// Lowest slot taken by a constant.
    pub constants_start: u32,
    constants: BTreeMap<Vec<u64>, Slot>,
    /// Actions by JSON id.
    pub action_ids: BTreeMap<u64, u16>,
}

impl Program {
    /// Loads what `p4c-bm2-ss` writes.
    ///
    /// # Errors
    /// A [`LoadError`] that names what is missing, malformed or not supported.
    pub fn from_json(text: &str) -> Result<Program, LoadError> {
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
}

impl Loader<'_> {
    pub(crate) fn emit(&mut self, op: Op) -> Pc {
        self.program.ops.push(op);
        (self.program.ops.len() - 1) as Pc
    }

    pub(crate) fn emit_wide(&mut self, op: Wide) {
        self.program.wide.push(op);
        let index = (self.program.wide.len() - 1) as u32;
        self.emit(Op::Wide(index));
    }

    /// The next operation's index.
    pub(crate) fn here(&self) -> Pc {
        self.program.ops.len() as Pc
    }

    /// Fresh temporaries, free again when the statement ends.
    pub(crate) fn temporary(&mut self, limbs: u16) -> Result<Slot, LoadError> {
        let slot = self.temporary;
        self.temporary += u32::from(limbs);
        if self.temporary >= self.constants_start {
            return Err(self.names.too_big("more than 65,536 slots of fields and values"));
        }
        Ok(slot as Slot)
    }

    pub(crate) fn statement_ends(&mut self) {
        self.temporary = self.temporaries_start;
    }

    /// The slot of a constant, least significant limb first.
    pub(crate) fn constant_limbs(&mut self, limbs: Vec<u64>) -> Result<Slot, LoadError> {
        if let Some(&slot) = self.constants.get(&limbs) {
            return Ok(slot);
        }
        let count = limbs.len() as u32;
        // Temporaries grow towards the constants; both ends are checked.
        if self.constants_start.saturating_sub(count) <= self.temporaries_start + 4096 {
            return Err(self.names.too_big("more than 65,536 slots of fields and values"));
        }
        self.constants_start -= count;
        let slot = self.constants_start as Slot;
        for (i, &limb) in limbs.iter().enumerate() {
            self.program.constants.push((slot + i as Slot, limb));
        }
        self.constants.insert(limbs, slot);
        Ok(slot)
    }

    pub(crate) fn constant(&mut self, value: u64) -> Result<Slot, LoadError> {
        self.constant_limbs(vec![value])
    }

    fn errors(&mut self) {
        let code = |name: &str, otherwise: u64| {
            let found = self.root.errors.iter().find(|(error, _)| error == name);
            found.map_or(otherwise, |(_, code)| u64::from(*code))
        };
        // A program that lacks one of them can't ask for it; it must only differ from NoError.
        let errors = crate::ir::program::ParserErrors {
            packet_too_short: code("PacketTooShort", 0x7fff_fff0),
            stack_out_of_bounds: code("StackOutOfBounds", 0x7fff_fff1),
            header_too_short: code("HeaderTooShort", 0x7fff_fff2),
            parser_timeout: code("ParserTimeout", 0x7fff_fff3),
            parser_invalid_argument: code("ParserInvalidArgument", 0x7fff_fff4),
        };
        self.program.errors = errors;
    }
}
