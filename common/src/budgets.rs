//! What the engine holds, does or takes at most: every limit that guards its memory and its time
//! against hostile packets, programs and controllers. `narrows.schema.budgets` has those of the
//! Python side; docs/reference/budgets.md lists both with what happens beyond them.

/// How often a packet, with the packets that it was copied from, may come to the parser again or
/// be cloned at egress.
pub const ROUNDS_OF_A_PACKET: u32 = 256;

/// Copies that descend from one packet that arrived; a group or session has no more replicas.
pub const COPIES_OF_A_PACKET: u32 = 65_536;

/// Copies that descend from a copy whose original goes on.
pub const COPIES_OF_A_COPY: u32 = 255;

/// Bytes of a program's registers, counters and meters together, in each pipeline.
pub const PROGRAM_STATE_BYTES: u64 = 512 << 20;

/// The least maximum segment size that a sender takes from its peer: 8 bytes of payload behind 40 of
/// options, as `TCP_MIN_SND_MSS` of Linux.
pub const MSS_MIN: u32 = 48;

/// Digests that wait for the control plane, in each pipeline.
pub const DIGESTS_WAITING: usize = 1 << 16;

/// Bytes of packets that wait for the control plane, in each pipeline. Each counts as
/// [`PACKET_IN_OVERHEAD`] more.
pub const PACKET_IN_BYTES: usize = 32 << 20;

/// Packets that the control plane takes in one call.
pub const PACKET_INS_AT_ONCE: usize = 4096;

/// Bytes that a waiting packet takes besides its own.
pub const PACKET_IN_OVERHEAD: usize = 64;
