//! The tables that machine code looks up. Any other table runs the program's default action.

use crate::ir::Program;
use crate::state::tables::Table;

/// A set of a program's tables.
#[derive(Clone, Debug)]
pub(crate) struct TablesInUse(Vec<bool>);

impl TablesInUse {
    /// All tables of a program.
    pub(crate) fn all(program: &Program) -> Self {
        TablesInUse(vec![true; program.tables.len()])
    }

    /// The tables in which a controller or the program has put something.
    pub(crate) fn of(tables: &[Table]) -> Self {
        TablesInUse(tables.iter().map(Table::is_in_use).collect())
    }

    pub(crate) fn has(&self, table: u32) -> bool {
        self.0[table as usize]
    }

    /// True if each table of `others` is one of these.
    pub(crate) fn cover(&self, others: &TablesInUse) -> bool {
        self.0.iter().zip(&others.0).all(|(&this, &other)| this || !other)
    }
}
