//! Header instances: where their parts are, in slots and in the packet's bytes.

use super::slot::Slot;

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
    /// First slot; [`super::slot::NOWHERE`] when nothing refers to it.
    pub slot: Slot,
    /// Bit offset in the header, the variable-length field taken as empty.
    pub bit: u32,
    pub after_varbit: bool,
    pub varbit: bool,
}

/// Where a header's fields are in its bytes, to read or to write them together.
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
    /// How many of the parts are in it.
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
