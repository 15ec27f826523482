//! The state of a load: what has been read, and the next free operation, temporary and constant.

use super::error::LoadError;
use super::json::Root;
use super::names::Names;
use crate::ir::{Op, ParserErrors, Pc, Program, Slot, WideOp, mask};
use std::collections::BTreeMap;

/// The state of a load.
pub(crate) struct Loader<'a> {
    pub root: &'a Root<'a>,
    pub names: Names,
    pub program: Program,
    /// The current action's parameters: slot and width.
    pub locals: Vec<(Slot, u32)>,
    /// The next free temporary.
    pub temporary: u32,
    pub temporaries_start: u32,
    /// The lowest slot that a constant uses.
    pub constants_start: u32,
    pub constants: BTreeMap<Vec<u64>, Slot>,
    /// Actions by JSON id.
    pub action_ids: BTreeMap<u64, u16>,
}

impl Loader<'_> {
    pub(crate) fn emit(&mut self, op: Op) -> Pc {
        self.program.ops.push(op);
        (self.program.ops.len() - 1) as Pc
    }

    /// Emits an operation on values of several limbs: moves of each limb where these suffice,
    /// which the JIT translates.
    pub(crate) fn emit_wide(&mut self, op: WideOp) {
        if let Some(moves) = moves(op) {
            return self.program.ops.extend(moves);
        }
        self.program.wide.push(op);
        let index = (self.program.wide.len() - 1) as u32;
        self.emit(Op::Wide(index));
    }

    /// The next operation's index.
    pub(crate) fn here(&self) -> Pc {
        self.program.ops.len() as Pc
    }

    /// New temporaries, free again at the end of the statement.
    pub(crate) fn temporary(&mut self, limbs: u16) -> Result<Slot, LoadError> {
        let slot = self.temporary;
        self.temporary += u32::from(limbs);
        if self.temporary >= self.constants_start {
            return Err(self.names.too_big("more than 65,536 slots of fields and values"));
        }
        Ok(slot as Slot)
    }

    pub(crate) fn statement_ends(&mut self) {
        self.temporary = self.temporaries_start;
    }

    /// The slot of a constant, least significant limb first.
    pub(crate) fn constant_limbs(&mut self, limbs: Vec<u64>) -> Result<Slot, LoadError> {
        if let Some(&slot) = self.constants.get(&limbs) {
            return Ok(slot);
        }
        let count = limbs.len() as u32;
        // Temporaries grow towards the constants; both ends are checked.
        if self.constants_start.saturating_sub(count) <= self.temporaries_start + 4096 {
            return Err(self.names.too_big("more than 65,536 slots of fields and values"));
        }
        self.constants_start -= count;
        let slot = self.constants_start as Slot;
        for (i, &limb) in limbs.iter().enumerate() {
            self.program.constants.push((slot + i as Slot, limb));
        }
        self.constants.insert(limbs, slot);
        Ok(slot)
    }

    pub(crate) fn constant(&mut self, value: u64) -> Result<Slot, LoadError> {
        self.constant_limbs(vec![value])
    }

    pub(super) fn errors(&mut self) {
        let code = |name: &str, otherwise: u64| {
            let found = self.root.errors.iter().find(|(error, _)| error == name);
            found.map_or(otherwise, |(_, code)| u64::from(*code))
        };
        // A program without one of these errors can't compare with it; the value must only differ
        // from NoError.
        let errors = ParserErrors {
            packet_too_short: code("PacketTooShort", 0x7fff_fff0),
            stack_out_of_bounds: code("StackOutOfBounds", 0x7fff_fff1),
            header_too_short: code("HeaderTooShort", 0x7fff_fff2),
            parser_timeout: code("ParserTimeout", 0x7fff_fff3),
            parser_invalid_argument: code("ParserInvalidArgument", 0x7fff_fff4),
        };
        self.program.errors = errors;
    }
}

/// Wider values take a [`WideOp`].
const MOST_MOVES: u16 = 8;

/// The moves of limbs that do what a wide operation does, for an unsigned copy or a mask.
fn moves(op: WideOp) -> Option<Vec<Op>> {
    let limb_mask = |bits: u32, limb: u16| mask(bits.saturating_sub(u32::from(limb) * 64));
    match op {
        WideOp::Extend { d, n, a, from, signed: false }
            if n <= MOST_MOVES && (d >= a + from || a >= d + n) =>
        {
            let kept = |limb| if limb < from { u64::MAX } else { 0 };
            let source = |limb: u16| a + limb.min(from - 1);
            let one = |limb| Op::Move { d: d + limb, a: source(limb), mask: kept(limb) };
            Some((0..n).map(one).collect())
        }
        WideOp::Mask { d, n, bits } if n <= MOST_MOVES => {
            let cut = (0..n).filter(|&limb| limb_mask(bits, limb) != u64::MAX);
            let one = |limb| Op::Move { d: d + limb, a: d + limb, mask: limb_mask(bits, limb) };
            Some(cut.map(one).collect())
        }
        _ => None,
    }
}
