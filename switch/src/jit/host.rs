//! The border between native code and Rust: the only file with `unsafe`.
//!
//! Native code gets two addresses: the slots, and a [`Host`]. It touches memory only in these ways:
//! - slots, by constant indices below 65,536, the number of slots;
//! - the fields of the [`Host`];
//! - cells of registers, by indices that it first compares with the array's size;
//! - a table's array of entry numbers, if any, by keys with no more bits than it has cells for;
//! - the cells of a trie, starting at a node that a cell refers to, by as many bits of a key as the
//!   node has cells for (`Trie`);
//! - the cells of a table's look-up cache, by as many bits of a hash as it has cells for
//!   (`Addresses::shift`);
//! - a table's entries, each of a fixed number of words (`ActionEntries`), by a number from one of
//!   these or from [`Helper::LookUp`]; only adding entries or cells moves them, and none is added
//!   while it runs;
//! - bytes of the packet below [`Host`]'s length, which it compares first (`extract`, `deparse`);
//! - of a rebuilt packet, the bytes that it requested, and the old bytes below their length;
//! - through the functions below, which take the `Host` and a number.
#![allow(unsafe_code)]

use super::phase::End;
use crate::interpreter;
use crate::interpreter::Machine;
use crate::interpreter::rebuild_packet;
use crate::ir::architecture::Phase;
use crate::ir::{Pc, Program, internal};
use crate::state::tables::action_entries::packed;
use crate::state::tables::{Addresses, Table};
use cranelift_jit::JITModule;
use narrows_common::Packet;
use std::mem::{offset_of, size_of};

/// The state of native code besides the slots.
#[repr(C)]
pub(super) struct Host<'a> {
    /// The packet's materialised bytes.
    data: *mut u8,
    length: u64,
    /// The packet's bytes before [`Helper::Rebuild`].
    before: *const u8,
    before_length: u64,
    /// The registers' cells.
    cells: *mut u64,
    tables: *const Table,
    /// Remaining jumps.
    fuel: u64,
    program: &'a Program,
    machine: &'a mut Machine,
    packet: &'a mut Packet,
}

pub(super) const DATA: i32 = offset_of!(Host<'static>, data) as i32;
pub(super) const LENGTH: i32 = offset_of!(Host<'static>, length) as i32;
pub(super) const BEFORE: i32 = offset_of!(Host<'static>, before) as i32;
pub(super) const BEFORE_LENGTH: i32 = offset_of!(Host<'static>, before_length) as i32;
pub(super) const CELLS: i32 = offset_of!(Host<'static>, cells) as i32;
pub(super) const TABLES: i32 = offset_of!(Host<'static>, tables) as i32;
pub(super) const FUEL: i32 = offset_of!(Host<'static>, fuel) as i32;

impl Host<'_> {
    /// Updates the addresses after the packet's bytes may have moved.
    fn refresh(&mut self) {
        (self.data, self.length) = (self.packet.data.as_mut_ptr(), self.packet.data.len() as u64);
    }
}

/// Offsets of a table's addresses from the first table.
pub(super) fn addresses(table: u32) -> Addresses {
    let start = table as usize * size_of::<Table>() + offset_of!(Table, addresses);
    Addresses {
        cells: start + offset_of!(Addresses, cells),
        action_entries: start + offset_of!(Addresses, action_entries),
        any: start + offset_of!(Addresses, any),
        shift: start + offset_of!(Addresses, shift),
    }
}

/// A function that native code calls; its index is its position in [`Helper::all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Helper {
    /// Runs the interpreter's code for the operation of this number; nonzero to stop.
    Step,
    /// Looks up the table of this number: the action's code and the operation after it, packed.
    Apply,
    /// The entry that a key of up to two words matches in the table of this number.
    LookUp,
    /// The target of the select of this number.
    Select,
    /// Materialises the packet's bytes up to this length; nonzero if the packet is shorter.
    Need,
    /// Makes room for this many bytes of headers, all zero, in front of the payload.
    Rebuild,
    /// Stops an endless run.
    OutOfFuel,
}

impl Helper {
    pub(super) const COUNT: usize = 7;

    /// Each helper's name, address, and number of arguments besides the [`Host`].
    pub(super) fn all() -> [(Helper, &'static str, *const u8, usize); Self::COUNT] {
        type One = extern "C" fn(&mut Host<'_>, u64) -> u64;
        type Three = extern "C" fn(&mut Host<'_>, u64, u64, u64) -> u64;
        let one = |function: One| function as *const u8;
        let three = |function: Three| function as *const u8;
        [
            (Helper::Step, "step", one(step), 1),
            (Helper::Apply, "apply", one(apply), 1),
            (Helper::LookUp, "look_up", three(look_up), 3),
            (Helper::Select, "select", one(select), 1),
            (Helper::Need, "need", one(need), 1),
            (Helper::Rebuild, "rebuild", one(rebuild), 1),
            (Helper::OutOfFuel, "out_of_fuel", one(out_of_fuel), 1),
        ]
    }
}

extern "C" fn step(host: &mut Host<'_>, pc: u64) -> u64 {
    let op = &host.program.ops[pc as usize];
    let stop = interpreter::step(host.program, host.machine, host.packet, op);
    host.refresh();
    u64::from(stop == interpreter::Flow::Stop)
}

extern "C" fn apply(host: &mut Host<'_>, table: u64) -> u64 {
    packed(interpreter::apply(host.program, host.machine, table as u32))
}

extern "C" fn look_up(host: &mut Host<'_>, table: u64, low: u64, high: u64) -> u64 {
    host.machine.state.tables[table as usize].find_and_cache([low, high]).into()
}

extern "C" fn select(host: &mut Host<'_>, index: u64) -> u64 {
    u64::from(interpreter::select(host.program, host.machine, index as u32))
}

extern "C" fn need(host: &mut Host<'_>, end: u64) -> u64 {
    if (host.packet.len() as u64) < end {
        host.machine.set(internal::PARSER_ERROR, host.program.errors.packet_too_short);
        return 1;
    }
    host.packet.materialise(end as usize);
    host.refresh();
    0
}

extern "C" fn rebuild(host: &mut Host<'_>, bytes: u64) -> u64 {
    rebuild_packet(host.machine, host.packet, |out, _, _| out.resize(bytes as usize, 0));
    let before = &host.machine.scratch;
    (host.before, host.before_length) = (before.as_ptr(), before.len() as u64);
    host.refresh();
    0
}

extern "C" fn out_of_fuel(host: &mut Host<'_>, start: u64) -> u64 {
    interpreter::out_of_fuel(host.program, host.machine, start as Pc);
    0
}

/// The result of a phase's function that ran to its end; not a valid address in a program.
pub(super) const DONE: u64 = 0;
/// Like [`DONE`], and the packet's bytes are written.
pub(super) const WRITTEN: u64 = 1;

/// A function that Cranelift generated. Returns one of the constants above, or where the
/// interpreter continues: an operation and the operation after its action, packed.
type Entry = extern "C" fn(slots: *mut u64, host: *mut Host<'_>) -> u64;

/// Native code and its entry points.
pub(super) struct Code {
    /// `None` only during a drop.
    module: Option<JITModule>,
    phases: [Entry; Phase::ALL.len()],
}

// SAFETY: a finished module is read only, until it is dropped.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// `phases` are functions of the finished `module`, written by `Translator`.
    pub(super) fn new(module: JITModule, phases: [*const u8; Phase::ALL.len()]) -> Self {
        // SAFETY: `compile` gives them the signature of `Entry`.
        let function = |address| unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Code { module: Some(module), phases: phases.map(function) }
    }

    #[inline]
    pub(super) fn run(
        &self,
        program: &Program,
        machine: &mut Machine,
        packet: &mut Packet,
        phase: Phase,
    ) -> End {
        let slots = machine.slots.as_mut_ptr();
        let cells = machine.state.registers.as_mut_ptr();
        let tables = machine.state.tables.as_ptr();
        let (data, length) = (packet.data.as_mut_ptr(), packet.data.len() as u64);
        let (before, before_length) = (core::ptr::null(), 0);
        let fuel = u64::from(interpreter::FUEL);
        let mut host = Host {
            data,
            length,
            before,
            before_length,
            cells,
            tables,
            fuel,
            program,
            machine,
            packet,
        };
        match self.phases[phase as usize](slots, &raw mut host) {
            DONE => End::Done,
            WRITTEN => End::Written,
            packed => End::At(((packed >> 32) as Pc, packed as Pc, host.fuel as u32)),
        }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: `phases` are dropped with it, and none of them runs, because running borrows
            // `self`.
            unsafe { module.free_memory() }
        }
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Code({} phases)", self.phases.len())
    }
}
