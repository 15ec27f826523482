//! What a loaded program is: operations on numbered slots, and what its objects are.

pub(crate) mod architecture;
pub(crate) mod field_match;
pub(crate) mod hash;
pub(crate) mod integer;
pub(crate) mod metadata;
pub(crate) mod op;
pub(crate) mod program;
