//! The hosts.
