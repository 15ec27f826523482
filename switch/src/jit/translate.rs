//! Operations of a phase to Cranelift's intermediate representation.
//!
//! A slot that was read or written is kept as a value until something may have changed it behind
//! the code's back; where paths meet, what they agree on is kept. What the architecture reads is
//! written to memory at once. Private slots, temporaries above all (`KnownBits::is_private`), are only
//! where an operation looks for them in memory, which a first attempt at translation finds out.

use super::graph::{BlockKey, EMPTY, Graph};
use super::host::{DATA, FUEL, Helper, LENGTH};
use super::known_bits::KnownBits;
use super::phase::Phase;
use crate::interpreter;
use crate::ir;
use crate::ir::{Case, Header, Op, Pc, Program, Slot, internal};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, MemFlags, Value, types};
use cranelift_frontend::FunctionBuilder;
use std::collections::{BTreeMap, BTreeSet};

/// Of memory that nobody writes to while the code runs: it is read where its value is used, or not.
pub(super) const STAYS: MemFlags = MemFlags::trusted().with_readonly().with_can_move();

/// What is known of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Constant(u64),
    Value(Value),
}

/// Which private slots have to be in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// All temporaries.
    temporaries: bool,
    /// All others.
    fields: bool,
    slots: BTreeSet<Slot>,
}

impl Stored {
    /// A slot may be read that another phase was the last to write.
    pub(super) fn share(all: &mut BTreeMap<Phase, Stored>) {
        let slots: BTreeSet<Slot> =
            all.values().flat_map(|one| one.slots.iter().copied()).collect();
        let fields = all.values().any(|one| one.fields);
        for one in all.values_mut() {
            one.slots.clone_from(&slots);
            one.fields = fields;
        }
    }
}

pub(super) struct Translator<'a, 'f> {
    pub program: &'a Program,
    pub builder: FunctionBuilder<'f>,
    /// Of the block of the program that is being written.
    pub graph: &'a Graph,
    graphs: &'a BTreeMap<Pc, Graph>,
    helpers: [FuncRef; Helper::COUNT],
    known_bits: &'a KnownBits,
    pub slots: Value,
    host: Value,
    known: BTreeMap<Slot, Known>,
    /// The bits that can be set, of values of which not all can.
    bits: BTreeMap<Value, u64>,
    stored: &'a Stored,
    wanted: Stored,
    /// One for each block of the graph.
    blocks: Vec<Block>,
    /// Where the program's block ends.
    pub done: Block,
    out_of_fuel: Block,
    /// Jumps that take fuel first, still to be written, and where they go.
    edges: Vec<(Block, usize)>,
}

impl<'a, 'f> Translator<'a, 'f> {
    pub(super) fn new(
        program: &'a Program,
        graphs: &'a BTreeMap<Pc, Graph>,
        known_bits: &'a KnownBits,
        stored: &'a Stored,
        mut builder: FunctionBuilder<'f>,
        helpers: [FuncRef; Helper::COUNT],
    ) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let (slots, host) = (builder.block_params(entry)[0], builder.block_params(entry)[1]);
        Translator {
            program,
            builder,
            graph: &EMPTY,
            graphs,
            helpers,
            known_bits,
            slots,
            host,
            known: BTreeMap::new(),
            bits: BTreeMap::new(),
            stored,
            wanted: stored.clone(),
            blocks: vec![],
            done: entry,
            out_of_fuel: entry,
            edges: vec![],
        }
    }

    /// Ends the function. Returns which private slots have to be in memory.
    pub(super) fn finalize(mut self) -> Stored {
        self.builder.seal_all_blocks();
        self.builder.finalize();
        self.wanted
    }

    /// Writes a block of the program, and goes on where it ends.
    pub(super) fn block(&mut self, block: ir::Block) {
        let Some(graph) = self.graphs.get(&self.program.start(block)) else { return };
        self.graph = graph;
        self.blocks = graph.blocks.iter().map(|_| self.builder.create_block()).collect();
        (self.done, self.out_of_fuel) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(self.out_of_fuel);
        if graph.loops {
            let fuel = self.constant(u64::from(interpreter::FUEL));
            self.builder.ins().store(MemFlags::trusted(), fuel, self.host, FUEL);
        }
        self.builder.ins().jump(self.blocks[0], &[]);
        self.blocks();
        self.ends();
    }

    fn blocks(&mut self) {
        let graph = self.graph;
        let mut ends: Vec<Option<BTreeMap<Slot, Known>>> = vec![None; graph.blocks.len()];
        for (i, block) in graph.blocks.iter().enumerate() {
            self.builder.switch_to_block(self.blocks[i]);
            let before: Option<Vec<_>> = block.before.iter().map(|&b| ends[b].as_ref()).collect();
            self.known = before.map_or_else(BTreeMap::new, |before| agreed(&before));
            if i == 0 && block.before.is_empty() {
                self.known = self.known_at(block.key.pc);
            }
            for pc in block.key.pc..block.last {
                self.op(pc);
            }
            self.last(block.last, block.key, &block.next);
            ends[i] = Some(core::mem::take(&mut self.known));
        }
    }

    /// What is known where a block of the program begins.
    fn known_at(&self, pc: Pc) -> BTreeMap<Slot, Known> {
        let zero: Vec<Slot> = match pc {
            pc if pc == self.program.start(ir::Block::Parser) => after_reset(self.program),
            pc if pc == self.program.start(ir::Block::Egress) => {
                self.known_bits.zero_at_egress(self.program).collect()
            }
            _ => vec![],
        };
        zero.into_iter().map(|slot| (slot, Known::Constant(0))).collect()
    }

    /// The blocks that all others share.
    fn ends(&mut self) {
        for (block, to) in core::mem::take(&mut self.edges) {
            self.builder.switch_to_block(block);
            let fuel = self.host_word(FUEL);
            let left = self.builder.ins().iadd_imm(fuel, -1);
            self.builder.ins().store(MemFlags::trusted(), left, self.host, FUEL);
            self.builder.ins().brif(left, self.blocks[to], &[], self.out_of_fuel, &[]);
        }
        self.builder.switch_to_block(self.out_of_fuel);
        let start = self.graph.blocks.first().map_or(0, |block| block.key.pc);
        self.call(Helper::OutOfFuel, u64::from(start));
        self.builder.ins().jump(self.done, &[]);
        self.builder.switch_to_block(self.done);
    }

    // Slots.

    pub(super) fn constant(&mut self, value: u64) -> Value {
        let constant = self.builder.ins().iconst(types::I64, value as i64);
        self.with_bits(constant, value)
    }

    /// The bits of a value that can be set.
    pub(super) fn bits(&self, value: Value) -> u64 {
        self.bits.get(&value).copied().unwrap_or(u64::MAX)
    }

    /// Notes that no other bits of a value can be set.
    pub(super) fn with_bits(&mut self, value: Value, bits: u64) -> Value {
        if bits != u64::MAX {
            self.bits.insert(value, bits);
        }
        value
    }

    pub(super) fn address(slot: Slot) -> i32 {
        i32::from(slot) * 8
    }

    pub(super) fn read(&mut self, slot: Slot) -> Value {
        if let Some(&constant) = self.known_bits.constants.get(&slot) {
            return self.constant(constant);
        }
        match self.known.get(&slot) {
            Some(&Known::Constant(constant)) => self.constant(constant),
            Some(&Known::Value(value)) => value,
            None => {
                self.in_memory(slot);
                let flags = MemFlags::trusted();
                let at = Self::address(slot);
                let value = self.builder.ins().load(types::I64, flags, self.slots, at);
                let value = self.with_bits(value, self.known_bits.bits(slot));
                self.known.insert(slot, Known::Value(value));
                value
            }
        }
    }

    pub(super) fn known(&self, slot: Slot) -> Option<u64> {
        match (self.known_bits.constants.get(&slot), self.known.get(&slot)) {
            (Some(&constant), _) | (None, Some(&Known::Constant(constant))) => Some(constant),
            _ => None,
        }
    }

    pub(super) fn write(&mut self, slot: Slot, value: Value) {
        self.known.insert(slot, Known::Value(value));
        if self.is_stored(slot) {
            let at = Self::address(slot);
            self.builder.ins().store(MemFlags::trusted(), value, self.slots, at);
        }
    }

    fn is_stored(&self, slot: Slot) -> bool {
        let Stored { temporaries, fields, slots } = self.stored;
        let all = if self.known_bits.is_temporary(slot) { *temporaries } else { *fields };
        all || slots.contains(&slot) || !self.known_bits.is_private(slot)
    }

    pub(super) fn write_constant(&mut self, slot: Slot, constant: u64) {
        let value = self.constant(constant);
        self.write(slot, value);
        self.known.insert(slot, Known::Constant(constant));
    }

    pub(super) fn known_here(&self) -> BTreeMap<Slot, Known> {
        self.known.clone()
    }

    /// Knows no more than before a branch that comes back here.
    pub(super) fn go_back_to(&mut self, known: BTreeMap<Slot, Known>) {
        self.known = known;
    }

    /// Takes nothing for granted.
    pub(super) fn forget_all(&mut self) {
        self.known.clear();
    }

    /// Private slots have to be in memory, all of them.
    pub(super) fn all_in_memory(&mut self) {
        (self.wanted.temporaries, self.wanted.fields) = (true, true);
    }

    /// Somebody looks for the slot in memory.
    pub(super) fn in_memory(&mut self, slot: Slot) {
        if self.known_bits.is_private(slot) {
            self.wanted.slots.insert(slot);
        }
    }

    /// The slots from `first` on may have been written.
    pub(super) fn forget(&mut self, first: Slot, count: usize) {
        let first = usize::from(first);
        self.known.retain(|&slot, _| !(first..first + count).contains(&usize::from(slot)));
    }

    // Helpers.

    pub(super) fn host_word(&mut self, offset: i32) -> Value {
        self.builder.ins().load(types::I64, MemFlags::trusted(), self.host, offset)
    }

    /// The same of what stays while the code runs.
    pub(super) fn host_constant(&mut self, offset: i32) -> Value {
        self.builder.ins().load(types::I64, STAYS, self.host, offset)
    }

    pub(super) fn call(&mut self, helper: Helper, argument: u64) -> Value {
        let argument = self.constant(argument);
        self.call_with(helper, &[argument])
    }

    pub(super) fn call_with(&mut self, helper: Helper, arguments: &[Value]) -> Value {
        let arguments = [&[self.host], arguments].concat();
        let call = self.builder.ins().call(self.helpers[helper as usize], &arguments);
        self.builder.inst_results(call)[0]
    }

    /// Goes on unless `stop` is set; `cold` says that it hardly ever is.
    pub(super) fn stop_if(&mut self, stop: Value) {
        let on = self.builder.create_block();
        self.builder.ins().brif(stop, self.done, &[], on, &[]);
        self.builder.switch_to_block(on);
    }

    // Jumps.

    /// The block to jump to for a block of the graph; a jump of the program takes fuel in loops.
    fn target(&mut self, to: usize) -> Block {
        if !self.graph.loops {
            return self.blocks[to];
        }
        let edge = self.builder.create_block();
        self.edges.push((edge, to));
        edge
    }

    pub(super) fn jump(&mut self, to: usize) {
        let block = self.target(to);
        self.builder.ins().jump(block, &[]);
    }

    /// The last operation of a block.
    fn last(&mut self, pc: Pc, key: BlockKey, next: &[usize]) {
        match self.program.ops[pc as usize] {
            Op::Halt => {
                self.builder.ins().jump(self.done, &[]);
            }
            Op::Return | Op::Jump(_) => self.jump(next[0]),
            Op::JumpZero { a, .. } => {
                let a = self.read(a);
                let taken = self.target(next[0]);
                self.builder.ins().brif(a, self.blocks[next[1]], &[], taken, &[]);
            }
            Op::JumpEq { a, b, .. } => self.branch(IntCC::Equal, a, b, next),
            Op::JumpNe { a, b, .. } => self.branch(IntCC::NotEqual, a, b, next),
            Op::SelectState(i) => self.select(i, next),
            Op::Table(i) => self.table(i, next),
            // Left to the interpreter from here on.
            Op::Choose { .. } => {
                self.all_in_memory();
                let packed = self.constant(u64::from(pc) << 32);
                self.builder.ins().return_(&[packed]);
            }
            _ => {
                self.op(pc);
                debug_assert!(next.len() == 1, "{key:?} falls through");
                self.builder.ins().jump(self.blocks[next[0]], &[]);
            }
        }
    }

    fn branch(&mut self, condition: IntCC, a: Slot, b: Slot, next: &[usize]) {
        let (a, b) = (self.read(a), self.read(b));
        let holds = self.builder.ins().icmp(condition, a, b);
        let taken = self.target(next[0]);
        self.builder.ins().brif(holds, taken, &[], self.blocks[next[1]], &[]);
    }

    fn select(&mut self, i: u32, next: &[usize]) {
        let program = self.program;
        let select = &program.selects[i as usize];
        if select.cases.iter().any(|case| matches!(case, Case::ValueSet { .. })) {
            select.key.iter().for_each(|&slot| self.in_memory(slot));
            let chosen = self.call(Helper::Select, u64::from(i));
            let targets = select.cases.iter().map(|case| match case {
                Case::Value { next, .. } | Case::ValueSet { next, .. } => u64::from(*next),
            });
            for (pc, &to) in targets.zip(next) {
                let holds = self.builder.ins().icmp_imm(IntCC::Equal, chosen, pc as i64);
                self.branch_to(holds, to);
            }
        } else {
            for (case, &to) in select.cases.iter().zip(next) {
                let Case::Value { parts, .. } = case else { continue };
                let mut holds = None;
                for (&slot, &(value, mask)) in select.key.iter().zip(parts) {
                    let part = self.read(slot);
                    let part = self.masked(part, mask);
                    let same = self.builder.ins().icmp_imm(IntCC::Equal, part, value as i64);
                    holds = Some(match holds {
                        None => same,
                        Some(holds) => self.builder.ins().band(holds, same),
                    });
                }
                match holds {
                    Some(holds) => self.branch_to(holds, to),
                    // A key without parts.
                    None => {
                        let always = self.constant(1);
                        self.branch_to(always, to);
                    }
                }
            }
        }
        if let Some(&default) = next.last() {
            self.jump(default);
        }
    }

    /// Jumps when `holds`, and goes on behind it otherwise.
    pub(super) fn branch_to(&mut self, holds: Value, to: usize) {
        let (taken, on) = (self.target(to), self.builder.create_block());
        self.builder.ins().brif(holds, taken, &[], on, &[]);
        self.builder.switch_to_block(on);
    }

    /// The frame's bytes as they are now.
    pub(super) fn frame(&mut self) -> Value {
        self.host_word(DATA)
    }

    /// How many bytes of the frame there are as it is now.
    pub(super) fn frame_length(&mut self) -> Value {
        self.host_word(LENGTH)
    }
}

/// What `Machine::reset` leaves at zero, and the fields that come round with a packet do not change.
fn after_reset(program: &Program) -> Vec<Slot> {
    let kept: BTreeSet<Slot> =
        program.field_lists.values().flat_map(|list| list.slots.iter().copied()).collect();
    let headers = program.headers.iter().filter(|header| !header.metadata);
    let valid = headers.map(Header::valid).filter(|slot| !kept.contains(slot));
    [internal::PAYLOAD, internal::RANK, internal::MOVED].into_iter().chain(valid).collect()
}

/// What all of several paths agree on. A value known at the end of each was computed before they
/// parted.
pub(super) fn agreed(before: &[&BTreeMap<Slot, Known>]) -> BTreeMap<Slot, Known> {
    let Some((first, others)) = before.split_first() else { return BTreeMap::new() };
    let same = |(slot, known): &(&Slot, &Known)| {
        others.iter().all(|other| other.get(slot) == Some(*known))
    };
    first.iter().filter(same).map(|(&slot, &known)| (slot, known)).collect()
}
