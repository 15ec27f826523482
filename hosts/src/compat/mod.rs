//! Makes our hosts behave like other TCPs: profiles of their defaults, and ns-2's agents.

pub mod ns2;
pub mod profiles;
