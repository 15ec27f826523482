//! The program's blocks, in the order in which the architecture runs them.
//!
//! Where the architecture has nothing to do in between, machine code runs several blocks in one
//! go. Without machine code the interpreter runs them one by one.

use crate::interpreter::{FUEL, Machine, deparse, interpret};
use crate::ir::{Block, Program, internal};
use crate::jit::{End, MachineCode, Phase};
use narrows_common::Packet;
use std::sync::Arc;

/// What runs the program's blocks.
pub(super) struct Phases {
    code: Option<Arc<MachineCode>>,
}

/// A block by the interpreter.
fn run(program: &Program, m: &mut Machine, packet: &mut Packet, block: Block) {
    let start = program.start(block);
    if start != 0 {
        interpret(program, m, packet, start, (start, 0, FUEL));
    }
}

impl Phases {
    /// Without `code` the interpreter runs all.
    pub(super) fn new(code: Option<Arc<MachineCode>>) -> Self {
        Phases { code }
    }

    /// The parser alone.
    pub(super) fn parse(&self, program: &Program, m: &mut Machine, packet: &mut Packet) {
        run(program, m, packet, Block::Parser);
    }

    /// Parser, checksums and ingress, of which each finds in the metadata what was wrong before.
    #[inline]
    pub(super) fn arrive(&self, program: &Program, m: &mut Machine, packet: &mut Packet) {
        let Some(code) = &self.code else {
            run(program, m, packet, Block::Parser);
            let error = m.get(internal::PARSER_ERROR);
            program.standard.parser_error.put(&mut m.slots, error);
            run(program, m, packet, Block::Verify);
            let error = m.get(internal::CHECKSUM_ERROR);
            program.standard.checksum_error.put(&mut m.slots, error);
            return run(program, m, packet, Block::Ingress);
        };
        if let End::At(point) = code.run(program, m, packet, Phase::Arrive) {
            interpret(program, m, packet, program.start(Block::Ingress), point);
        }
    }

    /// Egress. True when the packet's bytes are already those that leave.
    #[inline]
    pub(super) fn depart(&self, program: &Program, m: &mut Machine, packet: &mut Packet) -> bool {
        let Some(code) = &self.code else {
            run(program, m, packet, Block::Egress);
            return false;
        };
        match code.run(program, m, packet, Phase::Depart) {
            End::Written => return true,
            End::Done => {}
            End::At(point) => interpret(program, m, packet, program.start(Block::Egress), point),
        }
        false
    }

    /// What is left after egress: checksums and the deparser.
    pub(super) fn finish(&self, program: &Program, m: &mut Machine, packet: &mut Packet) {
        let end = match &self.code {
            Some(code) => code.run(program, m, packet, Phase::Finish),
            None => {
                run(program, m, packet, Block::Update);
                End::Done
            }
        };
        if !matches!(end, End::Written) {
            deparse(program, m, packet);
        }
    }
}
