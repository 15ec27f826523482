//! The software P4 target.
