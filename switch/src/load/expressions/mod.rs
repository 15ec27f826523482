//! Expressions: read from the JSON as a tree, then lowered to operations with exact results. The
//! lowering uses the fewest bits that it can prove sufficient.

mod arith;
mod compare;
mod lower;
mod read;
mod shift;
mod store;
mod tree;
mod val;

pub(super) use tree::{Expr, HeaderExpr, Part};
