//! Actions and their primitives.

mod architecture;
mod declare;
mod destination;
mod externs;
mod headers;
mod primitive;
