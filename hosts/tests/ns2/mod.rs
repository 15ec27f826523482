//! Compares our senders with recordings of ns-2.

mod asym;
mod idle;
mod senders;
