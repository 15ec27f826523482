//! The interpreter: executes operations until one halts.

use super::machine::Machine;
use super::select::select;
use super::step::{Flow, step};
use super::tables::{apply, choose};
use crate::ir::{Block, Op, Pc, Program, internal};
use narrows_common::Packet;

/// The most jumps and tables of one run: far above any real program, and a bound on endless loops.
pub(crate) const FUEL: u32 = 1 << 16;

/// Where a run continues: the operation, the operation after its action, and the remaining fuel.
pub(crate) type ResumePoint = (Pc, Pc, u32);

/// Interprets from `pc` on, in a block that began at `start`. Only the parser's operations read and
/// extend the packet.
///
/// Frequent, short operations are inline, so that their state stays in registers; `rare` has the
/// rest.
#[inline(never)]
pub(crate) fn interpret(
    program: &Program,
    m: &mut Machine,
    packet: &mut Packet,
    start: Pc,
    (pc, mut back, mut fuel): ResumePoint,
) {
    let ops = program.ops.as_slice();
    let mut pc = pc as usize;
    macro_rules! s {
        ($slot:expr) => {
            m.slots[$slot as usize]
        };
    }
    macro_rules! jump {
        ($to:expr) => {{
            pc = $to as usize;
            fuel -= 1;
            if fuel == 0 {
                return out_of_fuel(program, m, start);
            }
        }};
    }
    loop {
        let op = &ops[pc];
        pc += 1;
        match *op {
            Op::Halt => return,
            Op::Return => jump!(back),
            Op::Jump(to) => jump!(to),
            Op::JumpZero { a, to } => {
                if s!(a) == 0 {
                    jump!(to);
                }
            }
            Op::JumpEq { a, b, to } => {
                if s!(a) == s!(b) {
                    jump!(to);
                }
            }
            Op::JumpNe { a, b, to } => {
                if s!(a) != s!(b) {
                    jump!(to);
                }
            }
            Op::Move { d, a, mask } => s!(d) = s!(a) & mask,
            Op::Add { d, a, b, mask } => s!(d) = s!(a).wrapping_add(s!(b)) & mask,
            Op::Sub { d, a, b, mask } => s!(d) = s!(a).wrapping_sub(s!(b)) & mask,
            Op::Mul { d, a, b, mask } => s!(d) = s!(a).wrapping_mul(s!(b)) & mask,
            Op::And { d, a, b, mask } => s!(d) = s!(a) & s!(b) & mask,
            Op::Or { d, a, b, mask } => s!(d) = (s!(a) | s!(b)) & mask,
            Op::Xor { d, a, b, mask } => s!(d) = (s!(a) ^ s!(b)) & mask,
            Op::Not { d, a, mask } => s!(d) = !s!(a) & mask,
            Op::Shl { d, a, b, mask } => {
                let count = s!(b);
                s!(d) = if count < 64 { s!(a) << count & mask } else { 0 };
            }
            Op::Shr { d, a, b, mask } => {
                let count = s!(b);
                s!(d) = if count < 64 { s!(a) >> count & mask } else { 0 };
            }
            Op::Sar { d, a, b, mask } => {
                let count = s!(b).min(63);
                s!(d) = (s!(a) as i64 >> count) as u64 & mask;
            }
            Op::Select { d, c, a, b } => s!(d) = if s!(c) != 0 { s!(a) } else { s!(b) },
            Op::SignExtend { d, a, bits } => {
                let shift = 64 - u32::from(bits);
                s!(d) = ((s!(a) << shift) as i64 >> shift) as u64;
            }
            Op::Eq { d, a, b } => s!(d) = u64::from(s!(a) == s!(b)),
            Op::Ne { d, a, b } => s!(d) = u64::from(s!(a) != s!(b)),
            Op::LessU { d, a, b } => s!(d) = u64::from(s!(a) < s!(b)),
            Op::LessEqU { d, a, b } => s!(d) = u64::from(s!(a) <= s!(b)),
            Op::LessS { d, a, b } => s!(d) = u64::from((s!(a) as i64) < s!(b) as i64),
            Op::LessEqS { d, a, b } => s!(d) = u64::from(s!(a) as i64 <= s!(b) as i64),
            Op::SelectState(i) => jump!(select(program, m, i)),
            Op::Table(i) => {
                let (code, next) = apply(program, m, i);
                back = next;
                jump!(code);
            }
            Op::Choose { table, group } => {
                let (code, next) = choose(program, m, packet, table, group);
                back = next;
                jump!(code);
            }
            _ => {
                if step(program, m, packet, op) == Flow::Stop {
                    return;
                }
            }
        }
    }
}

/// Stops an endless run: a parser times out, any other block is aborted.
#[cold]
pub(crate) fn out_of_fuel(program: &Program, m: &mut Machine, start: Pc) {
    if start == program.start(Block::Parser) {
        m.set(internal::PARSER_ERROR, program.errors.parser_timeout);
    } else {
        m.set(internal::ABORTED, 1);
    }
}
