//! The decisions of `fpga/rtl`, as a model by Verilator, behind the interface of a port's core.
//!
//! [`CoreLibrary`] loads the library of `fpga/model/core.h`, which a test or `--target rtl` builds.
//! Each core is one port's queue and serializer.

mod api;
mod core;
mod library;

pub use library::CoreLibrary;
