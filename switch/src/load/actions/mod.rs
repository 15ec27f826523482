//! Actions and the primitives that they call.

mod architecture;
mod declare;
mod destination;
mod externs;
mod headers;
mod primitive;
