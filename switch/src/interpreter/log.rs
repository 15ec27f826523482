//! Log messages of the program.

use super::machine::Machine;
use crate::ir::{LogCall, limbs, to_hex};

/// Replaces the braces of a log message with decimal values.
pub(super) fn log(m: &mut Machine, call: &LogCall) {
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
                wide => line.push_str(&to_hex(wide)),
            }
        }
        rest = &rest[at + 2..];
    }
    line.push_str(rest);
    lines.push(line);
}
