//! What the engine holds, does or takes at most: every limit that guards its memory and its time
//! against hostile packets, programs and controllers. `narrows.schema.budgets` has those of the
//! Python side. docs/reference/budgets.md is made from both modules: a comment without `///` is a
//! heading there, and a constant says what it limits, then "Beyond it:" and what happens.

// Packets

/// How often a packet, with the packets that it was copied from, is resubmitted, recirculated or
/// cloned at egress. Beyond it: the packet is dropped, or not cloned, and counted as `endless`.
pub const ROUNDS_OF_A_PACKET: u32 = 256;

/// Copies that descend from a packet that arrived; also the replicas of a group or session. Beyond
/// it: no more copies are made, and `endless` counts them.
pub const COPIES_OF_A_PACKET: u32 = 65_536;

/// Copies that descend from a copy whose original goes on. Beyond it: no more copies are made, and
/// `endless` counts them.
pub const COPIES_OF_A_COPY: u32 = 255;

/// The least maximum segment size that a sender takes from its peer: 8 bytes of payload behind 40
/// of options, as `TCP_MIN_SND_MSS` of Linux. Beyond it: a smaller value is replaced by this one.
pub const MSS_MIN: u32 = 48;

/// Digests that wait for the control plane, in each pipeline. Beyond it: later digests are dropped
/// and counted as `digests_lost`.
pub const DIGESTS_WAITING: usize = 1 << 16;

/// Bytes of packets that wait for the control plane, in each pipeline. Beyond it: later packets are
/// dropped and counted as `packet_ins_no_room`.
pub const PACKET_IN_BYTES: usize = 32 << 20;

/// What a waiting packet takes of `PACKET_IN_BYTES` besides its own bytes.
pub const PACKET_IN_OVERHEAD: usize = 64;

/// Packets that the control plane takes in one call. Beyond it: the next call takes the rest.
pub const PACKET_INS_AT_ONCE: usize = 4096;

/// Digests that the control plane takes in one call, of each pipeline. Beyond it: the next call
/// takes the rest.
pub const DIGESTS_AT_ONCE: usize = 4096;

// Programs

/// Bytes of a program's registers, counters and meters together, in each pipeline. Beyond it: the
/// program is refused, by VERIFY too.
pub const PROGRAM_STATE_BYTES: u64 = 512 << 20;

/// Table entries, members and groups of action profiles, and members of groups, all together, in
/// each pipeline. Beyond it: the update is refused with RESOURCE_EXHAUSTED.
pub const ENTRIES_OF_A_SWITCH: u64 = 1 << 21;
