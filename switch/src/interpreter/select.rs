//! A parser's `select`.

use super::machine::Machine;
use crate::ir::{Case, Pc, Program};

/// The state that a select transitions to.
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
