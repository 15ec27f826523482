//! The representation of a loaded program.

pub(crate) mod architecture;
mod calculation;
mod externs;
mod field_match;
mod hash;
mod header;
mod integer;
mod metadata;
mod op;
mod parser;
mod program;
mod slot;
mod table;
mod wide_op;

pub(crate) use calculation::{Calculation, Checksum, FieldSum, HashCall, Input};
pub(crate) use externs::{
    COUNTER_BYTES, CounterArray, FieldList, LIMB_BYTES, LogCall, METER_BYTES, MeterArray, Register,
};
pub(crate) use field_match::{FieldMatch, normalise, prefix_mask, within};
pub(crate) use hash::{Algorithm, SHORT_BYTES, fold_sum};
pub(crate) use header::{
    Field, FieldPlan, FieldPlans, Header, HeaderRef, Part, Stack, UnionStack, Window, Word,
};
pub(crate) use integer::{Integer, to_hex};
pub(crate) use metadata::{MetadataField, SET_AT_DEQUEUE, SET_BEFORE_EGRESS, StandardMetadata};
pub(crate) use op::{Op, Pc};
pub(crate) use parser::{Case, ParserErrors, Select, ValueSet};
pub(crate) use program::{Block, Program};
pub(crate) use slot::{NOWHERE, Slot, Slots, internal, limbs, mask};
pub(crate) use table::{
    Action, ActionProfile, ConstEntry, GROUP, KeyField, KeyLoad, MEMBER, MatchKind, Parameter,
    Table,
};
pub(crate) use wide_op::WideOp;
