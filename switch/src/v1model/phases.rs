//! The program's blocks as the architecture has them run, one after the other where it has nothing to
//! do in between: by machine code in one go where there is some, else block by block.

use crate::interpreter::deparse::deparse;
use crate::interpreter::machine::Machine;
use crate::interpreter::run::{FUEL, interpret};
use crate::ir::op::internal;
use crate::ir::program::{Block, Program};
use crate::jit::{End, Native};
use narrows_common::Packet;

/// Blocks that machine code runs in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Parser, checksums, ingress.
    Arrive,
    /// Egress; and [`Phase::Finish`] where egress drops nothing, clones nothing and leaves the headers
    /// as they lie.
    Depart,
    /// Checksums; and the fields put back where their headers lie as they came.
    Finish,
}

impl Phase {
    pub(crate) const ALL: [Phase; 3] = [Phase::Arrive, Phase::Depart, Phase::Finish];
}

fn native<'a>(program: &'a Program, m: &Machine) -> Option<&'a Native> {
    if m.native { program.native() } else { None }
}

/// A block by the interpreter.
fn run(program: &Program, m: &mut Machine, packet: &mut Packet, block: Block) {
    let start = program.start(block);
    if start != 0 {
        interpret(program, m, packet, start, (start, 0, FUEL));
    }
}

/// The parser alone.
pub(crate) fn parse(program: &Program, m: &mut Machine, packet: &mut Packet) {
    run(program, m, packet, Block::Parser);
}

/// Parser, checksums and ingress, of which each finds in the metadata what was wrong before.
#[inline]
pub(crate) fn arrive(program: &Program, m: &mut Machine, packet: &mut Packet) {
    let Some(native) = native(program, m) else {
        run(program, m, packet, Block::Parser);
        let error = m.get(internal::PARSER_ERROR);
        program.standard.parser_error.put(&mut m.slots, error);
        run(program, m, packet, Block::Verify);
        let error = m.get(internal::CHECKSUM_ERROR);
        program.standard.checksum_error.put(&mut m.slots, error);
        return run(program, m, packet, Block::Ingress);
    };
    if let End::At(point) = native.run(program, m, packet, Phase::Arrive) {
        interpret(program, m, packet, program.start(Block::Ingress), point);
    }
}

/// Egress. True when the packet's bytes are those that leave: nothing but this came up.
#[inline]
pub(crate) fn depart(program: &Program, m: &mut Machine, packet: &mut Packet) -> bool {
    let Some(native) = native(program, m) else {
        run(program, m, packet, Block::Egress);
        return false;
    };
    match native.run(program, m, packet, Phase::Depart) {
        End::Written => return true,
        End::Done => {}
        End::At(point) => interpret(program, m, packet, program.start(Block::Egress), point),
    }
    false
}

/// What is left after egress: checksums and the deparser.
pub(crate) fn finish(program: &Program, m: &mut Machine, packet: &mut Packet) {
    let end = match native(program, m) {
        Some(native) => native.run(program, m, packet, Phase::Finish),
        None => {
            run(program, m, packet, Block::Update);
            End::Done
        }
    };
    if !matches!(end, End::Written) {
        deparse(program, m, packet);
    }
}
