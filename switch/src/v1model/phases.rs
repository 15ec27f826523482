//! Runs the program's blocks in the architecture's order.
//!
//! If the architecture has nothing to do in between, machine code runs several blocks without a
//! return. Without machine code the interpreter runs them one by one.

use crate::interpreter::{FUEL, Machine, deparse, interpret};
use crate::ir::architecture::{Phase, Step};
use crate::ir::{Block, Program};
use crate::jit::{End, MachineCode};
use narrows_common::Packet;
use std::sync::Arc;

/// The engine that runs the program's blocks.
#[derive(Default)]
pub(crate) struct Phases {
    code: Option<Arc<MachineCode>>,
}

/// Runs a block by the interpreter.
fn run(program: &Program, m: &mut Machine, packet: &mut Packet, block: Block) {
    let start = program.start(block);
    if start != 0 {
        interpret(program, m, packet, start, (start, 0, FUEL));
    }
}

/// Runs a phase by the interpreter.
fn run_phase(program: &Program, m: &mut Machine, packet: &mut Packet, phase: Phase) {
    for &step in phase.steps() {
        match step {
            Step::Run(block) => run(program, m, packet, block),
            Step::Tell(error) => {
                let (from, to) = error.source_and_field(&program.standard);
                let error = m.get(from);
                to.put(&mut m.slots, error);
            }
        }
    }
}

impl Phases {
    /// From now on `code` runs the blocks; without it, the interpreter. Neither keeps anything
    /// outside the machine between two phases.
    pub(super) fn run_by(&mut self, code: Option<Arc<MachineCode>>) {
        self.code = code;
    }

    /// True if the machine code does not look up this table.
    pub(crate) fn lacks(&self, table: usize) -> bool {
        self.code.as_ref().is_some_and(|code| !code.looks_up(table))
    }

    /// Runs only the parser.
    pub(super) fn parse(&self, program: &Program, m: &mut Machine, packet: &mut Packet) {
        run(program, m, packet, Block::Parser);
    }

    /// Runs parser, checksum verification and ingress. Each finds earlier errors in the metadata.
    #[inline]
    pub(super) fn arrive(&self, program: &Program, m: &mut Machine, packet: &mut Packet) {
        let Some(code) = &self.code else {
            return run_phase(program, m, packet, Phase::Arrive);
        };
        if let End::At(point) = code.run(program, m, packet, Phase::Arrive) {
            interpret(program, m, packet, program.start(Block::Ingress), point);
        }
    }

    /// Runs egress. True if the packet's bytes are already final.
    #[inline]
    pub(super) fn depart(&self, program: &Program, m: &mut Machine, packet: &mut Packet) -> bool {
        let Some(code) = &self.code else {
            run_phase(program, m, packet, Phase::Depart);
            return false;
        };
        match code.run(program, m, packet, Phase::Depart) {
            End::Written => return true,
            End::Done => {}
            End::At(point) => interpret(program, m, packet, program.start(Block::Egress), point),
        }
        false
    }

    /// Runs the blocks after egress: checksum update and deparser.
    pub(super) fn finish(&self, program: &Program, m: &mut Machine, packet: &mut Packet) {
        let end = match &self.code {
            Some(code) => code.run(program, m, packet, Phase::Finish),
            None => {
                run_phase(program, m, packet, Phase::Finish);
                End::Done
            }
        };
        if !matches!(end, End::Written) {
            deparse(program, m, packet);
        }
    }
}
