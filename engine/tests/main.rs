//! The tests of `engine/` from outside, in one binary: it links once, and its tests share all
//! cores.
#![allow(missing_docs)]

mod collector;
#[path = "../../switch/tests/common/mod.rs"]
mod common;
mod data_path;
mod pipelines;
mod rings;
mod schema;
mod switches;
