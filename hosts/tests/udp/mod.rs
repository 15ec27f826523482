//! Flows of datagrams, and TFRC.

mod datagrams;
mod tfrc;
