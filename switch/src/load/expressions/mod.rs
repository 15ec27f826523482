//! Expressions: read from the JSON as a tree, lowered to operations with exact results in as few
//! bits as can be proved enough.

mod arith;
mod compare;
mod lower;
mod read;
mod shift;
mod store;
mod tree;
mod val;

pub(super) use tree::{Expr, HeaderExpr, Part};
