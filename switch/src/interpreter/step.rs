//! Operations that neither jump nor compute in registers.

use super::calculation::{calculate, varbit};
use super::extract::{extract_next, extract_next_union};
use super::log::log;
use super::machine::Machine;
use super::wide;
use crate::ir::{Op, Program, internal};
use narrows_common::Packet;

/// Whether a run continues.
#[derive(PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    Stop,
}

/// Executes an operation that neither jumps nor computes in registers.
#[inline]
pub(crate) fn step(program: &Program, m: &mut Machine, packet: &mut Packet, op: &Op) -> Flow {
    match *op {
        Op::Extract { header } => {
            if let Err(code) = m.extract(program, packet, header, 0) {
                m.set(internal::PARSER_ERROR, code);
                return Flow::Stop;
            }
        }
        Op::RegisterRead { d, register, i, mask } => {
            let index = m.get(i);
            m.state.registers.read(register, &mut m.slots, d, index, mask);
        }
        Op::RegisterWrite { register, i, a } => {
            let index = m.get(i);
            m.state.registers.write(register, &m.slots, index, a);
        }
        _ => return rare(program, m, packet, op),
    }
    Flow::On
}

#[inline(never)]
fn rare(program: &Program, m: &mut Machine, packet: &mut Packet, op: &Op) -> Flow {
    macro_rules! s {
        ($slot:expr) => {
            m.slots[$slot as usize]
        };
    }
    match *op {
        Op::Div { d, a, b, mask } => s!(d) = s!(a).checked_div(s!(b)).unwrap_or(0) & mask,
        Op::Rem { d, a, b, mask } => s!(d) = s!(a).checked_rem(s!(b)).unwrap_or(0) & mask,
        Op::ClampU { d, a, max } => s!(d) = s!(a).min(max),
        Op::ClampPositive { d, a, max } => {
            let value = s!(a);
            s!(d) = if (value as i64) < 0 { 0 } else { value.min(max) };
        }
        Op::ClampS { d, a, bits } => {
            let max = (1u64 << (bits - 1)) - 1;
            s!(d) = (s!(a) as i64).clamp(!max as i64, max as i64) as u64;
        }
        Op::Wide(i) => wide::execute(&mut m.slots, program.wide[i as usize]),
        Op::Assert { a } => {
            if s!(a) == 0 {
                s!(internal::ABORTED) = 1;
                return Flow::Stop;
            }
        }
        Op::Log(i) => log(m, &program.logs[i as usize]),
        Op::Count { .. }
        | Op::Meter { .. }
        | Op::Hash(_)
        | Op::VerifyChecksum(_)
        | Op::UpdateChecksum(_)
        | Op::Random { .. } => of_externs(program, m, packet, op),
        Op::ExtractVarbit { .. }
        | Op::ExtractNext { .. }
        | Op::ExtractNextVarbit { .. }
        | Op::ExtractNextUnion { .. }
        | Op::Advance { .. }
        | Op::Lookahead { .. }
        | Op::Verify { .. } => return of_parser(program, m, packet, op),
        _ => of_headers(program, m, packet, op),
    }
    Flow::On
}

/// Operations on whole headers and stacks.
fn of_headers(program: &Program, m: &mut Machine, packet: &Packet, op: &Op) {
    macro_rules! s {
        ($slot:expr) => {
            m.slots[$slot as usize]
        };
    }
    match *op {
        Op::LoadElement { d, i, stack, offset } => {
            let headers = &program.stacks[stack as usize].headers;
            s!(d) = match headers.get(s!(i) as usize) {
                Some(&h) => s!(program.headers[h as usize].base + offset),
                None => 0,
            };
        }
        Op::StoreElement { i, a, stack, offset } => {
            let headers = &program.stacks[stack as usize].headers;
            if let Some(&h) = headers.get(s!(i) as usize) {
                s!(program.headers[h as usize].base + offset) = s!(a);
            }
        }
        Op::StackLast { d, stack } => {
            s!(d) = s!(program.stacks[stack as usize].next).wrapping_sub(1);
        }
        Op::StackCount { d, stack } => s!(d) = s!(program.stacks[stack as usize].next),
        Op::ShiftStack { stack, a, push } => {
            let count = s!(a);
            m.shift_stack(program, stack, count, push);
        }
        Op::ShiftUnions { stack, a, push } => {
            let count = s!(a);
            m.shift_unions(program, stack, count, push);
        }
        Op::CopyStack { d, a } => m.copy_stack(program, d, a),
        Op::SetValid { header } => m.set_valid(program, header),
        Op::SetInvalid { header } => m.set_invalid(program, header),
        Op::SetElementValid { stack, i } => {
            let headers = &program.stacks[stack as usize].headers;
            if let Some(&header) = headers.get(s!(i) as usize) {
                m.set_valid(program, header);
            }
        }
        Op::SetElementInvalid { stack, i } => {
            let headers = &program.stacks[stack as usize].headers;
            if let Some(&header) = headers.get(s!(i) as usize) {
                m.set_invalid(program, header);
            }
        }
        Op::CopyHeader { d, a } => m.copy_header(program, d, a),
        Op::CopyDynamic(i) => {
            let (d, a) = program.copies[i as usize];
            if let (Some(d), Some(a)) = (m.resolve(program, d), m.resolve(program, a)) {
                m.copy_header(program, d, a);
            }
        }
        Op::HeadersEqual { d, a, b } => {
            s!(d) = u64::from(m.headers_equal(program, packet, a, b));
        }
        Op::VarbitsEqual { d, a, b } => {
            let bytes = |header: u16| varbit(&program.headers[header as usize], &m.slots, packet);
            let same = bytes(a) == bytes(b);
            s!(d) = u64::from(same);
        }
        Op::CopyVarbit { d, a } => m.copy_varbit(program, d, a),
        _ => unreachable!("the caller knows the headers' operations"),
    }
}

/// Operations of the parser.
fn of_parser(program: &Program, m: &mut Machine, packet: &mut Packet, op: &Op) -> Flow {
    macro_rules! s {
        ($slot:expr) => {
            m.slots[$slot as usize]
        };
    }
    macro_rules! parse {
        ($result:expr) => {
            if let Err(code) = $result {
                s!(internal::PARSER_ERROR) = code;
                return Flow::Stop;
            }
        };
    }
    match *op {
        Op::ExtractVarbit { header, bits } => {
            let bits = s!(bits);
            parse!(m.extract(program, packet, header, bits));
        }
        Op::ExtractNext { stack } => parse!(extract_next(program, m, packet, stack, 0)),
        Op::ExtractNextVarbit { stack, bits } => {
            let bits = s!(bits);
            parse!(extract_next(program, m, packet, stack, bits));
        }
        Op::ExtractNextUnion { stack, member } => {
            parse!(extract_next_union(program, m, packet, stack, member));
        }
        Op::Advance { bits } => {
            let bits = s!(bits);
            parse!(m.advance(program, packet, bits));
        }
        Op::Lookahead { d, offset, width } => {
            parse!(m.lookahead(program, packet, d, offset, width));
        }
        Op::Verify { a, code } => {
            if s!(a) == 0 {
                s!(internal::PARSER_ERROR) = s!(code);
                return Flow::Stop;
            }
        }
        _ => unreachable!("the caller knows the parser's operations"),
    }
    Flow::On
}

/// Counters, meters, hashes, checksums and random numbers.
fn of_externs(program: &Program, m: &mut Machine, packet: &Packet, op: &Op) {
    macro_rules! s {
        ($slot:expr) => {
            m.slots[$slot as usize]
        };
    }
    match *op {
        Op::Count { counter, i } => {
            let index = s!(i) as usize;
            if let Some(count) = m.state.counters[counter as usize].get_mut(index) {
                count.note(m.slots[internal::ARRIVED as usize]);
            }
        }
        Op::Meter { meter, i, d, mask } => {
            let tokens =
                if program.meters[meter as usize].bytes { s!(internal::ARRIVED) } else { 1 };
            let index = s!(i) as usize;
            if let Some(meter) = m.state.meters[meter as usize].get_mut(index) {
                s!(d) = meter.mark(m.now, tokens) as u64 & mask;
            }
        }
        Op::Hash(i) => {
            let call = program.hashes[i as usize];
            let calculation = &program.calculations[call.calculation as usize];
            let hash = calculate(program, calculation, &m.slots, packet, &mut m.buffer);
            let size = s!(call.size).max(1);
            s!(call.d) = (hash % size).wrapping_add(s!(call.base)) & call.mask;
        }
        Op::VerifyChecksum(i) => {
            let checksum = program.checksums[i as usize];
            if s!(checksum.valid) != 0 {
                let calculation = &program.calculations[checksum.calculation as usize];
                let sum = calculate(program, calculation, &m.slots, packet, &mut m.buffer);
                if s!(checksum.target) != sum {
                    s!(internal::CHECKSUM_ERROR) = 1;
                }
            }
        }
        Op::UpdateChecksum(i) => {
            let checksum = program.checksums[i as usize];
            let calculation = &program.calculations[checksum.calculation as usize];
            let sum = calculate(program, calculation, &m.slots, packet, &mut m.buffer);
            s!(checksum.target) = sum & checksum.mask;
        }
        Op::Random { d, a, b, mask } => {
            let (low, high) = (s!(a), s!(b));
            if low <= high {
                s!(d) = m.rng.range(low, high) & mask;
            }
        }
        _ => unreachable!("the caller knows the externs' operations"),
    }
}
