//! Arrays of registers, counters and meters; lists of fields; log messages.

use super::slot::Slot;

/// What a limb of a register takes in the switch's state.
pub(crate) const LIMB_BYTES: u64 = 8;
/// What a counter takes there.
pub(crate) const COUNTER_BYTES: u64 = 16;
/// What a meter takes there.
pub(crate) const METER_BYTES: u64 = 112;

#[derive(Clone, Debug)]
pub(crate) struct LogCall {
    pub format: String,
    pub values: Vec<(Slot, u32)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub name: String,
    pub size: u64,
    pub width: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct CounterArray {
    pub name: String,
    pub size: u64,
    /// The table that has it as a direct counter.
    pub table: Option<u16>,
}

#[derive(Clone, Debug)]
pub(crate) struct MeterArray {
    pub name: String,
    pub size: u64,
    pub bytes: bool,
    pub table: Option<u16>,
    /// Destination of a direct meter's result.
    pub target: Slot,
    pub target_mask: u64,
}

/// The fields that a clone or a recirculated packet keeps, or that a digest carries.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldList {
    pub name: String,
    /// First slot and width.
    pub fields: Vec<(Slot, u32)>,
    /// All their slots.
    pub slots: Vec<Slot>,
}
