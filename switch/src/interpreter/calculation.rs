//! The input of a hash or checksum: fields concatenated bit by bit.

use crate::ir::{Calculation, Header, Input, Program, Slot, Slots, fold_sum, mask};
use narrows_common::Packet;

/// Bits collected, the most significant first.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitBuffer {
    bytes: Vec<u8>,
    /// Used bits of the last byte; 0 when it is full.
    used: u32,
}

impl BitBuffer {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.used = 0;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends the low `width <= 64` bits of `value`.
    pub(crate) fn push(&mut self, value: u64, width: u32) {
        if self.used == 0 && width % 8 == 0 {
            self.bytes.extend_from_slice(&value.to_be_bytes()[8 - width as usize / 8..]);
            return;
        }
        let mut left = width;
        while left > 0 {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let count = left.min(8 - self.used);
            let piece = (value >> (left - count)) as u8 & (0xff >> (8 - count));
            if let Some(last) = self.bytes.last_mut() {
                *last |= piece << (8 - self.used - count);
            }
            self.used = (self.used + count) % 8;
            left -= count;
        }
    }

    /// Appends `width` bits from slots, the least significant limb first.
    pub(crate) fn push_limbs(&mut self, limbs: &[u64], width: u32) {
        let mut left = width;
        while left > 0 {
            let top = (left - 1) % 64 + 1;
            left -= top;
            self.push(limbs[(left / 64) as usize], top);
        }
    }

    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        if self.used == 0 {
            self.bytes.extend_from_slice(bytes);
        } else {
            bytes.iter().for_each(|&byte| self.push(u64::from(byte), 8));
        }
    }
}

/// The result of a calculation over the packet in its current state.
pub(crate) fn calculate(
    program: &Program,
    calculation: &Calculation,
    slots: &Slots,
    packet: &Packet,
    buffer: &mut BitBuffer,
) -> u64 {
    if let Some(sum) = &calculation.sum {
        let header = &program.headers[sum.header as usize];
        if slots[header.valid() as usize] == 0 {
            return fold_sum(0);
        }
        let part = |&(slot, shift): &(Slot, u8)| slots[slot as usize] << shift;
        return fold_sum(sum.fields.iter().map(part).sum());
    }
    if calculation.is_short {
        let (value, bits) = concatenated(program, &calculation.inputs, slots);
        let count = bits.div_ceil(8);
        // Zeros fill the last byte.
        let bytes = (value << (8 * count - bits)).to_be_bytes();
        return calculation.algorithm.digest_short(bytes, count as usize);
    }
    buffer.clear();
    for input in &calculation.inputs {
        collect(program, input, slots, packet, buffer);
    }
    if !calculation.payload {
        return calculation.algorithm.digest(&[buffer.bytes()], 0);
    }
    let start = slots[crate::ir::internal::PAYLOAD as usize] as usize;
    let tail = packet.data.get(start..).unwrap_or(&[]);
    let parts = [buffer.bytes(), tail, packet.payload()];
    calculation.algorithm.digest(&parts, packet.zeros as usize)
}

/// The bits of a short calculation's inputs, as one number, and how many they are.
fn concatenated(program: &Program, inputs: &[Input], slots: &Slots) -> (u128, u32) {
    inputs.iter().fold((0, 0), |(value, bits), input| match *input {
        Input::Field { header: Some(header), .. }
            if slots[program.headers[header as usize].valid() as usize] == 0 =>
        {
            (value, bits)
        }
        Input::Field { slot, width, .. } | Input::Constant { slot, width } => {
            let field = u128::from(slots[slot as usize] & mask(width));
            (value << width | field, bits + width)
        }
        Input::Varbit { .. } | Input::Header { .. } => unreachable!("it is not short"),
    })
}

fn collect(
    program: &Program,
    input: &Input,
    slots: &Slots,
    packet: &Packet,
    buffer: &mut BitBuffer,
) {
    let valid = |header: u16| slots[program.headers[header as usize].valid() as usize] != 0;
    match *input {
        Input::Field { header, slot, width } => {
            if header.is_none_or(valid) {
                buffer.push_limbs(from(slots, slot, width), width);
            }
        }
        Input::Constant { slot, width } => buffer.push_limbs(from(slots, slot, width), width),
        Input::Varbit { header } => {
            let header = &program.headers[header as usize];
            if header.metadata || slots[header.valid() as usize] != 0 {
                buffer.push_bytes(varbit(header, slots, packet));
            }
        }
        Input::Header { header } => {
            if valid(header) {
                let header = &program.headers[header as usize];
                for field in &header.fields {
                    if field.varbit {
                        buffer.push_bytes(varbit(header, slots, packet));
                    } else {
                        buffer.push_limbs(from(slots, field.slot, field.width), field.width);
                    }
                }
            }
        }
    }
}

fn from(slots: &Slots, slot: Slot, width: u32) -> &[u64] {
    let start = slot as usize;
    &slots[start..start + crate::ir::limbs(width) as usize]
}

/// The bytes of a header's variable-length field.
pub(crate) fn varbit<'a>(header: &Header, slots: &Slots, packet: &'a Packet) -> &'a [u8] {
    let start = slots[header.varbit_offset() as usize] as usize;
    let count = slots[header.varbit_bytes() as usize] as usize;
    packet.data.get(start..start.saturating_add(count)).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Algorithm;
    use narrows_common::Rng;

    #[test]
    fn lays_fields_end_to_end() {
        let mut buffer = BitBuffer::default();
        buffer.push(0x5, 3); // 101
        buffer.push(0x1ff, 9); // 1 1111 1111
        buffer.push(0, 4);
        buffer.push(0xabcd, 16);
        buffer.push_limbs(&[0x0123_4567_89ab_cdef, 0x3], 66);
        assert_eq!(
            buffer.bytes(),
            // 101 11111 | 1111 0000 | abcd | 11, then 64 bits shifted by two
            [0xbf, 0xf0, 0xab, 0xcd, 0xc0, 0x48, 0xd1, 0x59, 0xe2, 0x6a, 0xf3, 0x7b, 0xc0]
        );
    }

    #[test]
    fn a_short_calculation_equals_the_same_bits_in_a_buffer() {
        let program = Program::default();
        let mut slots = Box::new([0; 65_536]);
        let mut rng = Rng::from_seed(1);
        for round in 0..300 {
            let mut inputs = vec![];
            let mut left = rng.range(0, 128) as u32;
            while left > 0 {
                let (slot, width) =
                    (inputs.len() as Slot, rng.range(1, 64.min(left.into())) as u32);
                slots[usize::from(slot)] = rng.range(0, u64::MAX);
                inputs.push(match width % 2 {
                    0 => Input::Field { header: None, slot, width },
                    _ => Input::Constant { slot, width },
                });
                left -= width;
            }
            for name in ["crc8_custom", "crc16", "crc32", "crc64_custom", "csum16", "identity"] {
                let algorithm = Algorithm::from_name(name).unwrap();
                let [short, long] = [true, false].map(|is_short| {
                    let inputs = inputs.clone();
                    let (payload, sum) = (false, None);
                    let calculation = Calculation { algorithm, inputs, payload, sum, is_short };
                    let (packet, mut buffer) = (Packet::default(), BitBuffer::default());
                    calculate(&program, &calculation, &slots, &packet, &mut buffer)
                });
                assert_eq!(short, long, "{name}, round {round}: {inputs:?}");
            }
        }
    }
}
