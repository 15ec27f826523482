//! The virtual-time world.
