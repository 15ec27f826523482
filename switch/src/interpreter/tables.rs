//! Looks up tables, and selects members of their action profiles.

use super::calculation::calculate;
use super::machine::Machine;
use crate::ir::{Pc, Program, internal};
use crate::state::tables::action_entries::MISS;
use narrows_common::Packet;

/// Looks up a table; runs its direct meter, if any, on a hit.
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

/// Stores a member's parameters where actions expect them, and returns the member's code and the
/// operation after the table. A group without members does nothing.
pub(super) fn choose(
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
