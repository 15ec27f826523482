//! The interpreter: runs operations until one halts. It knows nothing of an architecture.

use super::calculation::{calculate, varbit};
use super::machine::Machine;
use super::wide;
use crate::ir::{Block, Case, LogCall, Op, Pc, Program, internal, limbs};
use crate::state::tables::action_entries::MISS;
use narrows_common::Packet;

/// Jumps and tables in one run, at most: far above any real program, and it stops a loop.
pub(crate) const FUEL: u32 = 1 << 16;

/// Where a run goes on: an operation, what follows its action, and how much fuel is left.
pub(crate) type ResumePoint = (Pc, Pc, u32);

/// Interprets from a place on, in what began at `start`. The packet is read and extended by the
/// parser's operations only.
///
/// What is frequent and short is here, so that it stays in registers; the rest is in `rare`.
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

/// Whether a run goes on.
#[derive(PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    Stop,
}

/// A run that does not end is stopped: a parser times out, anything else is an abort.
#[cold]
pub(crate) fn out_of_fuel(program: &Program, m: &mut Machine, start: Pc) {
    if start == program.start(Block::Parser) {
        m.set(internal::PARSER_ERROR, program.errors.parser_timeout);
    } else {
        m.set(internal::ABORTED, 1);
    }
}

/// An operation that neither jumps nor computes.
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
    macro_rules! parse {
        ($result:expr) => {
            if let Err(code) = $result {
                s!(internal::PARSER_ERROR) = code;
                return Flow::Stop;
            }
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
        Op::Assert { a } => {
            if s!(a) == 0 {
                s!(internal::ABORTED) = 1;
                return Flow::Stop;
            }
        }
        Op::Log(i) => log(m, &program.logs[i as usize]),
        _ => unreachable!("the frequent operations are interpreted above"),
    }
    Flow::On
}

/// Looks a table up; the direct meter, if there is one, is run on a hit.
#[inline]
pub(crate) fn apply(program: &Program, m: &mut Machine, i: u32) -> (Pc, Pc) {
    let arrived_bytes = m.get(internal::ARRIVED);
    let table = &mut m.state.tables[i as usize];
    let (number, code, next) = table.apply(&mut m.slots, program.parameters, arrived_bytes);
    let declared = &program.tables[i as usize];
    if number != MISS {
        if let Some(meter) = declared.meter {
            let declared = &program.meters[meter as usize];
            let tokens = if declared.bytes { arrived_bytes } else { 1 };
            if let Some(meter) = m.state.direct_meters[i as usize].get_mut(number as usize) {
                let colour = meter.mark(m.now, tokens);
                m.slots[declared.target as usize] = colour as u64 & declared.target_mask;
            }
        }
        if declared.idle {
            m.state.tables[i as usize].touch(number, m.now);
        }
    }
    // Without an action there is nothing to return from.
    if code == 0 { (next, next) } else { (code, next) }
}

/// A member's code and what follows the table; its parameters are put where actions have them.
/// A group without members does nothing.
fn choose(
    program: &Program,
    m: &mut Machine,
    packet: &Packet,
    table: u16,
    group: bool,
) -> (Pc, Pc) {
    let declared = &program.tables[table as usize];
    let after_nothing = declared.on_hit.unwrap_or(declared.base_next);
    let Some(profile) = declared.profile else { return (after_nothing, after_nothing) };
    let id = m.get(program.parameters);
    let hash = match program.profiles[profile as usize].selector {
        Some(calculation) if group => {
            let calculation = &program.calculations[calculation as usize];
            calculate(program, calculation, &m.slots, packet, &mut m.buffer)
        }
        _ => 0,
    };
    let profile = &m.state.profiles[profile as usize];
    let found = if group { profile.chosen(id, hash) } else { profile.member(id) };
    let Some(member) = found else { return (after_nothing, after_nothing) };
    let start = program.parameters as usize;
    m.slots[start..start + member.data.len()].copy_from_slice(&member.data);
    let code = program.actions[member.action as usize].code;
    (code, declared.after_member(&program.actions, member.action))
}

#[inline]
pub(crate) fn select(program: &Program, m: &mut Machine, i: u32) -> Pc {
    let select = &program.selects[i as usize];
    for case in &select.cases {
        match case {
            Case::Value { parts, next } => {
                let mut pairs = select.key.iter().zip(parts);
                if pairs.all(|(&slot, &(value, mask))| m.slots[slot as usize] & mask == value) {
                    return *next;
                }
            }
            Case::ValueSet { set, next } => {
                let slots = &m.slots;
                m.key.clear();
                m.key.extend(select.key.iter().map(|&slot| slots[slot as usize]));
                if m.state.value_sets[*set as usize].contains(m.key.as_slice()) {
                    return *next;
                }
            }
        }
    }
    select.default
}

fn extract_next(
    program: &Program,
    m: &mut Machine,
    packet: &mut Packet,
    stack: u16,
    bits: u64,
) -> Result<(), u64> {
    let found = &program.stacks[stack as usize];
    let next = m.get(found.next);
    let Some(&header) = found.headers.get(next as usize) else {
        return Err(program.errors.stack_out_of_bounds);
    };
    m.extract(program, packet, header, bits)?;
    m.set(found.next, next + 1);
    Ok(())
}

fn extract_next_union(
    program: &Program,
    m: &mut Machine,
    packet: &mut Packet,
    stack: u16,
    member: u16,
) -> Result<(), u64> {
    let found = &program.union_stacks[stack as usize];
    let next = m.get(found.next);
    let Some(union) = found.unions.get(next as usize) else {
        return Err(program.errors.stack_out_of_bounds);
    };
    m.extract(program, packet, union[member as usize], 0)?;
    m.set(found.next, next + 1);
    Ok(())
}

/// Fills the braces of a log message with values in decimal.
fn log(m: &mut Machine, call: &LogCall) {
    let Some(lines) = &mut m.log else { return };
    let mut line = String::with_capacity(call.format.len() + 16);
    let mut values = call.values.iter();
    let mut rest = call.format.as_str();
    while let Some(at) = rest.find("{}") {
        line.push_str(&rest[..at]);
        if let Some(&(slot, bits)) = values.next() {
            let start = slot as usize;
            let limbs = &m.slots[start..start + limbs(bits) as usize];
            match limbs {
                [value] => line.push_str(&value.to_string()),
                wide => line.push_str(&crate::ir::to_hex(wide)),
            }
        }
        rest = &rest[at + 2..];
    }
    line.push_str(rest);
    lines.push(line);
}
