//! Translates the blocks of a program, one straight run of operations after another.

use super::known::{Known, agreed};
use super::stored::Stored;
use crate::interpreter;
use crate::ir::{self, Header, Pc, Program, Slot, internal};
use crate::jit::graph::{EMPTY, Graph};
use crate::jit::host::{DATA, FUEL, Helper, LENGTH};
use crate::jit::known_bits::KnownBits;
use crate::jit::tables_in_use::TablesInUse;
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, MemFlags, Value, types};
use cranelift_frontend::FunctionBuilder;
use std::collections::{BTreeMap, BTreeSet};

/// For memory that does not change while the code runs: loads may move or disappear.
pub(super) const STAYS: MemFlags = MemFlags::trusted().with_readonly().with_can_move();

pub(in crate::jit) struct Translator<'a, 'f> {
    pub program: &'a Program,
    pub(super) in_use: &'a TablesInUse,
    pub builder: FunctionBuilder<'f>,
    /// The graph of the program block being translated.
    pub graph: &'a Graph,
    pub(super) graphs: &'a BTreeMap<Pc, Graph>,
    pub(super) helpers: [FuncRef; Helper::COUNT],
    pub(super) known_bits: &'a KnownBits,
    pub slots: Value,
    pub(super) host: Value,
    pub(super) known: BTreeMap<Slot, Known>,
    /// The bits that can be set, for values in which not all bits can.
    pub(super) bits: BTreeMap<Value, u64>,
    pub(super) stored: &'a Stored,
    pub(super) wanted: Stored,
    /// The Cranelift block of each block of the graph.
    pub(super) blocks: Vec<Block>,
    /// The end of the program's block.
    pub done: Block,
    pub(super) out_of_fuel: Block,
    /// The number of look-ups noted so far; `None` in phases that note none.
    pub(super) noted_look_ups: Option<usize>,
    /// Jumps that consume fuel, still to be written, with their targets.
    pub(super) edges: Vec<(Block, usize)>,
}

impl<'a, 'f> Translator<'a, 'f> {
    pub(in crate::jit) fn new(
        (program, in_use): (&'a Program, &'a TablesInUse),
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
            in_use,
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
            noted_look_ups: None,
            edges: vec![],
        }
    }

    /// Ends the function. Returns which private slots must be in memory.
    pub(super) fn finalize(mut self) -> Stored {
        self.builder.seal_all_blocks();
        self.builder.finalize();
        self.wanted
    }

    /// Translates a block of the program. The code written next follows it.
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

    pub(super) fn blocks(&mut self) {
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

    /// What is known at the start of a block of the program.
    pub(super) fn known_at(&self, pc: Pc) -> BTreeMap<Slot, Known> {
        let zero: Vec<Slot> = match pc {
            pc if pc == self.program.start(ir::Block::Parser) => after_reset(self.program),
            pc if pc == self.program.start(ir::Block::Egress) => {
                self.known_bits.zero_at_egress(self.program).collect()
            }
            _ => vec![],
        };
        zero.into_iter().map(|slot| (slot, Known::Constant(0))).collect()
    }

    /// Writes the blocks at which all others end.
    pub(super) fn ends(&mut self) {
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

    pub(super) fn host_word(&mut self, offset: i32) -> Value {
        self.builder.ins().load(types::I64, MemFlags::trusted(), self.host, offset)
    }

    /// Loads a field of the host that does not change while the code runs.
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

    /// The address of the frame's bytes.
    pub(super) fn frame(&mut self) -> Value {
        self.host_word(DATA)
    }

    /// The number of materialised bytes of the frame.
    pub(super) fn frame_length(&mut self) -> Value {
        self.host_word(LENGTH)
    }
}

/// Slots that `Machine::reset` sets to zero and that no field list of a resubmitted or recirculated
/// packet changes.
fn after_reset(program: &Program) -> Vec<Slot> {
    let kept: BTreeSet<Slot> =
        program.field_lists.values().flat_map(|list| list.slots.iter().copied()).collect();
    let headers = program.headers.iter().filter(|header| !header.metadata);
    let valid = headers.map(Header::valid).filter(|slot| !kept.contains(slot));
    [internal::PAYLOAD, internal::RANK, internal::MOVED].into_iter().chain(valid).collect()
}
