//! Reassembles a packet from its headers.
//!
//! As long as the valid headers are the extracted ones, in their order, the packet's bytes stay in
//! place. Only the fields that the program may have written are stored.

use super::calculation::varbit;
use super::fields;
use super::machine::Machine;
use crate::ir::{Header, Program, internal};
use narrows_common::Packet;

pub(crate) fn deparse(program: &Program, machine: &mut Machine, packet: &mut Packet) {
    if machine.get(internal::MOVED) == 0 {
        for &index in &program.patched {
            let header = &program.headers[index as usize];
            if machine.get(header.valid()) == 0 {
                continue;
            }
            let start = machine.get(header.origin()) as usize - 1;
            let varbit_bytes = varbit_bytes(machine, header);
            let end = start + header.fixed_bytes as usize + varbit_bytes;
            let bytes = &mut packet.data[start..end];
            fields::write(&machine.slots, &header.patch, bytes, varbit_bytes);
        }
        return;
    }
    rebuild_packet(machine, packet, |out, machine, packet| {
        for &index in &program.deparse {
            let header = &program.headers[index as usize];
            if machine.get(header.valid()) != 0 {
                emit(machine, header, packet, out);
            }
        }
    });
}

/// Writes new headers, as `put` emits them, in front of what the parser left. The packet's earlier
/// bytes are then the machine's scratch.
pub(crate) fn rebuild_packet(
    machine: &mut Machine,
    packet: &mut Packet,
    put: impl FnOnce(&mut Vec<u8>, &Machine, &Packet),
) {
    let payload = machine.get(internal::PAYLOAD) as usize;
    let mut out = core::mem::take(&mut machine.scratch);
    out.clear();
    put(&mut out, machine, packet);
    out.extend_from_slice(packet.data.get(payload..).unwrap_or(&[]));
    core::mem::swap(&mut packet.data, &mut out);
    machine.scratch = out;
}

fn varbit_bytes(machine: &Machine, header: &Header) -> usize {
    if header.has_varbit { machine.get(header.varbit_bytes()) as usize } else { 0 }
}

fn emit(machine: &Machine, header: &Header, packet: &Packet, out: &mut Vec<u8>) {
    let start = out.len();
    let varbit_bytes = varbit_bytes(machine, header);
    let size = header.fixed_bytes as usize + varbit_bytes;
    let origin = machine.get(header.origin()) as usize;
    let old = origin.checked_sub(1).and_then(|old| packet.data.get(old..old + size));
    match old {
        Some(old) => out.extend_from_slice(old),
        None => {
            out.resize(start + size, 0);
            // Most headers have no varbit, but many fields.
            let fields = if header.has_varbit { header.fields.as_slice() } else { &[] };
            if let Some(field) = fields.iter().find(|field| field.varbit) {
                let at = start + field.bit as usize / 8;
                let bytes = varbit(header, &machine.slots, packet);
                out[at..at + bytes.len()].copy_from_slice(bytes);
            }
        }
    }
    fields::write(&machine.slots, &header.patch, &mut out[start..], varbit_bytes);
}
