//! A loaded program: everything by index, nothing by name but for the control plane.

use crate::ir::hash::Algorithm;
use crate::ir::metadata::StandardMetadata;
use crate::ir::op::{Op, Pc, Slot, Wide};
use crate::jit::Native;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A P4 program, loaded and lowered. Several switches can share one (`Arc<Program>`).
#[derive(Debug)]
pub struct Program {
    pub(crate) ops: Vec<Op>,
    pub(crate) wide: Vec<Wide>,
    pub(crate) copies: Vec<(HeaderRef, HeaderRef)>,
    pub(crate) hashes: Vec<HashCall>,
    pub(crate) logs: Vec<LogCall>,
    pub(crate) constants: Vec<(Slot, u64)>,
    pub(crate) headers: Vec<Header>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) union_stacks: Vec<UnionStack>,
    pub(crate) selects: Vec<Select>,
    pub(crate) deparse: Vec<u16>,
    /// Those of them that the parser extracts and the program may have written.
    pub(crate) patched: Vec<u16>,
    /// Headers that are never valid before egress.
    pub(crate) egress_headers: Vec<u16>,
    /// Where each block begins, by its number; 0 where there is nothing in it.
    pub(crate) starts: [Pc; Block::ALL.len()],
    pub(crate) checksums: Vec<Checksum>,
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) tables: Vec<Table>,
    pub(crate) actions: Vec<Action>,
    pub(crate) registers: Vec<Register>,
    pub(crate) counters: Vec<CounterArray>,
    pub(crate) meters: Vec<MeterArray>,
    pub(crate) value_sets: Vec<ValueSet>,
    pub(crate) profiles: Vec<ActionProfile>,
    pub(crate) field_lists: BTreeMap<u64, FieldList>,
    pub(crate) digests: BTreeMap<u64, FieldList>,
    pub(crate) errors: ParserErrors,
    pub(crate) standard: StandardMetadata,
    /// Slots below this are zero at the start of a packet.
    pub(crate) packet_end: Slot,
    /// Slots below this go with a packet from ingress to egress.
    pub(crate) bridged_end: Slot,
    /// Slots from there to this are zero when a packet comes to egress: metadata of egress alone.
    pub(crate) metadata_end: Slot,
    /// Slots below this go with a packet from egress to egress: the egress headers too.
    pub(crate) egress_headers_end: Slot,
    /// Metadata that egress uses: `metadata_start..metadata_end`.
    pub(crate) metadata_start: Slot,
    /// Where action parameters are put.
    pub(crate) parameters: Slot,
    /// Every named field: `(header, field)` to its first slot and width in bits.
    pub(crate) fields: BTreeMap<(String, String), (Slot, u32)>,
    /// Made for the first switch that wants it.
    pub(crate) native: OnceLock<Result<Native, String>>,
}

impl Program {
    /// Where a block begins; 0 where there is nothing in it.
    #[inline]
    pub(crate) fn start(&self, block: Block) -> Pc {
        self.starts[block as usize]
    }

    /// The program's machine code, where there can be any.
    pub(crate) fn native(&self) -> Option<&Native> {
        self.native.get_or_init(|| Native::new(self)).as_ref().ok()
    }

    /// Why the program can't be machine code on this machine, if that is so.
    pub fn not_native(&self) -> Option<&str> {
        self.native.get_or_init(|| Native::new(self)).as_ref().err().map(String::as_str)
    }
}

/// What of a program the architecture runs, one block after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Parser,
    Verify,
    Ingress,
    Egress,
    Update,
}

impl Block {
    pub(crate) const ALL: [Block; 5] =
        [Block::Parser, Block::Verify, Block::Ingress, Block::Egress, Block::Update];
}

/// A header instance and where its parts are.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub name: String,
    pub header_type: u16,
    pub metadata: bool,
    /// Slot of the validity bit; the next one holds where in the packet it was, plus 1.
    pub base: Slot,
    /// How many slots the instance has in one piece, the same for each of its type. Fields that
    /// are only ever extracted, and that egress does not use, are elsewhere.
    pub stride: u16,
    pub fields: Vec<Field>,
    /// Length without the variable-length field.
    pub fixed_bytes: u32,
    /// Longest length that may be extracted, 0 for any.
    pub max_bytes: u32,
    pub has_varbit: bool,
    /// A header type's own length expression, evaluated after the fields before the varbit.
    pub built: bool,
    /// Its place in the deparser's order, from 1; 0 when it has none, or several.
    pub rank: u64,
    /// Fields to read at an extraction.
    pub extract: FieldPlans,
    /// Fields that the program may have written: put into the packet at the end.
    pub patch: FieldPlans,
    /// The other members of its union.
    pub siblings: Vec<u16>,
}

impl Header {
    pub(crate) const ORIGIN: u16 = 1;
    pub(crate) const VARBIT_OFFSET: u16 = 2;
    pub(crate) const VARBIT_BYTES: u16 = 3;

    /// How many slots come before the fields.
    pub(crate) fn parts(&self) -> u16 {
        if self.has_varbit { 4 } else { 2 }
    }

    pub(crate) fn valid(&self) -> Slot {
        self.base
    }
    pub(crate) fn origin(&self) -> Slot {
        self.base + Self::ORIGIN
    }
    pub(crate) fn varbit_offset(&self) -> Slot {
        self.base + Self::VARBIT_OFFSET
    }
    pub(crate) fn varbit_bytes(&self) -> Slot {
        self.base + Self::VARBIT_BYTES
    }
}

/// A field of a header instance.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: String,
    /// Zero for a varbit.
    pub width: u32,
    pub signed: bool,
    /// First slot; [`crate::ir::op::NOWHERE`] when nothing refers to it.
    pub slot: Slot,
    /// Bit offset in the header, the variable-length field taken as empty.
    pub bit: u32,
    pub after_varbit: bool,
    pub varbit: bool,
}

/// Where fields of a header lie in its bytes, to read or to write them together.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldPlans {
    /// Words of eight bytes, and the fields in each, one word's after the other's.
    pub words: Vec<Word>,
    pub parts: Vec<Part>,
    /// Fields that no such word holds.
    pub others: Vec<FieldPlan>,
}

impl FieldPlans {
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.others.is_empty()
    }
}

/// Eight bytes of a header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// Where in the header.
    pub byte: u16,
    /// How many of the parts lie in it.
    pub count: u16,
}

/// A field in a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub slot: Slot,
    pub shift: u8,
    pub mask: u64,
}

/// A field's place in the bytes and its slot: a window of whole bytes around it, and how far
/// up in the window it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPlan {
    pub slot: Slot,
    /// Where the window begins in the header.
    pub byte: u16,
    pub window: Window,
    pub shift: u8,
    pub mask: u64,
}

/// How many bytes are read or written for a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Window {
    One,
    Two,
    Four,
    /// Bit by bit: `width` bits from bit `first` on, perhaps after a variable-length field.
    Bits {
        first: u8,
        width: u16,
        after_varbit: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub headers: Vec<u16>,
    /// How many elements are in use.
    pub next: Slot,
}

#[derive(Clone, Debug)]
pub(crate) struct UnionStack {
    /// Each element's members.
    pub unions: Vec<Vec<u16>>,
    /// Each member, element by element.
    pub columns: Vec<Vec<u16>>,
    pub next: Slot,
}

/// A header that may be chosen at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeaderRef {
    Fixed(u16),
    Element { stack: u16, i: Slot },
}

/// A parser's `select`: parts of the key in slots, compared case by case.
#[derive(Clone, Debug)]
pub(crate) struct Select {
    pub key: Vec<Slot>,
    pub cases: Vec<Case>,
    pub default: Pc,
}

#[derive(Clone, Debug)]
pub(crate) enum Case {
    /// One `(value, mask)` for each part.
    Value {
        parts: Vec<(u64, u64)>,
        next: Pc,
    },
    ValueSet {
        set: u16,
        next: Pc,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct ValueSet {
    pub name: String,
    /// Widths of the select's key elements, from its first use.
    pub parts: Vec<u32>,
}

/// A checksum that the parser verifies or the deparser updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    /// Validity of the header that holds it.
    pub valid: Slot,
    pub target: Slot,
    pub mask: u64,
    pub calculation: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct Calculation {
    pub algorithm: Algorithm,
    pub inputs: Vec<Input>,
    pub payload: bool,
    /// Set when the whole is a one's complement sum over one header's fields.
    pub sum: Option<FieldSum>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    /// Skipped while the header is invalid; metadata has no header.
    Field {
        header: Option<u16>,
        slot: Slot,
        width: u32,
    },
    Varbit {
        header: u16,
    },
    Header {
        header: u16,
    },
    Constant {
        slot: Slot,
        width: u32,
    },
}

/// A one's complement sum as arithmetic: each field shifted to its place in a 16-bit word.
#[derive(Clone, Debug)]
pub(crate) struct FieldSum {
    pub header: u16,
    pub fields: Vec<(Slot, u8)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct HashCall {
    pub d: Slot,
    pub mask: u64,
    pub calculation: u16,
    pub base: Slot,
    pub size: Slot,
}

#[derive(Clone, Debug)]
pub(crate) struct LogCall {
    pub format: String,
    pub values: Vec<(Slot, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchKind {
    Exact,
    Lpm,
    Ternary,
    Range,
}

#[derive(Clone, Debug)]
pub(crate) struct KeyField {
    pub name: String,
    pub kind: MatchKind,
    pub width: u32,
    /// Static mask of the program, in limbs.
    pub mask: Option<Vec<u64>>,
    /// Which word of the key it begins in, and how far up; a wide field has words of its own.
    pub word: u16,
    pub shift: u8,
}

/// One step of gathering a key: `words[word] |= (slot & mask) << shift`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyLoad {
    pub slot: Slot,
    pub word: u16,
    pub shift: u8,
    pub mask: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub name: String,
    pub kind: MatchKind,
    pub key: Vec<KeyField>,
    pub loads: Vec<KeyLoad>,
    pub words: u16,
    pub max_size: u64,
    pub actions: Vec<u16>,
    /// Next node by index into `actions`.
    pub next: Vec<Pc>,
    pub on_hit: Option<Pc>,
    pub on_miss: Option<Pc>,
    pub base_next: Pc,
    pub default: Option<(u16, Vec<u64>)>,
    pub default_fixed: bool,
    pub counted: bool,
    pub meter: Option<u16>,
    /// The action profile whose members and groups its entries name.
    pub profile: Option<u16>,
    /// Whether entries may have idle time-outs.
    pub idle: bool,
    pub entries: Option<Vec<ConstEntry>>,
    /// Limbs that an entry's parameters take at most.
    pub stride: u16,
}

/// Members and groups of actions that several tables may share.
#[derive(Clone, Debug)]
pub(crate) struct ActionProfile {
    pub name: String,
    pub max_size: u64,
    /// The calculation whose hash chooses a group's member; without it there are no groups.
    pub selector: Option<u16>,
}

#[derive(Clone, Debug)]
pub(crate) struct ConstEntry {
    pub matches: Vec<super::field_match::FieldMatch>,
    pub priority: i32,
    pub action: u16,
    pub data: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub code: Pc,
    /// Limbs of all its parameters.
    pub limbs: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub width: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub name: String,
    pub size: u64,
    pub width: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct CounterArray {
    pub name: String,
    pub size: u64,
    /// The table whose direct counter it is.
    pub table: Option<u16>,
}

#[derive(Clone, Debug)]
pub(crate) struct MeterArray {
    pub name: String,
    pub size: u64,
    pub bytes: bool,
    pub table: Option<u16>,
    /// A direct meter's result.
    pub target: Slot,
    pub target_mask: u64,
}

/// Fields that a clone or a recirculated packet keeps, or that a digest carries.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldList {
    pub name: String,
    /// First slot and width.
    pub fields: Vec<(Slot, u32)>,
    /// All their slots.
    pub slots: Vec<Slot>,
}

/// The program's numbers for the core library's errors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ParserErrors {
    pub packet_too_short: u64,
    pub stack_out_of_bounds: u64,
    pub header_too_short: u64,
    pub parser_timeout: u64,
    pub parser_invalid_argument: u64,
}

/// How many 64-bit limbs hold `bits` bits.
pub(crate) fn limbs(bits: u32) -> u16 {
    bits.div_ceil(64).max(1) as u16
}

/// The low `bits` bits set; all 64 for more.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1u64 << bits) - 1 }
}

impl Table {
    /// The node after this table when `action` ran on a hit or a miss.
    pub(crate) fn after(&self, action: u16, hit: bool) -> Pc {
        let chosen = if hit { self.on_hit } else { self.on_miss };
        if let Some(next) = chosen {
            return next;
        }
        // With only one of the two given, the other ends the control.
        if self.on_hit.is_some() || self.on_miss.is_some() {
            return 0;
        }
        let position = self.actions.iter().position(|&known| known == action);
        position.map_or(self.base_next, |i| self.next[i])
    }

    /// The node after a member's action, which may be another table's of the same name.
    pub(crate) fn after_member(&self, program: &Program, action: u16) -> Pc {
        let name = |action: u16| program.actions[action as usize].name.as_str();
        let same = |&&known: &&u16| known == action || name(known) == name(action);
        self.after(self.actions.iter().find(same).copied().unwrap_or(action), true)
    }

    /// The node after a miss where there is no default action.
    pub(crate) fn after_nothing(&self) -> Pc {
        self.on_miss.unwrap_or(self.base_next)
    }
}
