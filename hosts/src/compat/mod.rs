//! What makes our hosts behave like another TCP's: profiles of their defaults, and ns-2's agents.

pub mod ns2;
pub mod profiles;
