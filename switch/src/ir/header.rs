//! Header instances: the positions of their parts in slots and in the packet's bytes.

use super::slot::Slot;

/// A header instance and the positions of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub name: String,
    pub header_type: u16,
    pub metadata: bool,
    /// Slot of the validity bit; the next slot holds its position in the packet, plus 1.
    pub base: Slot,
    /// Slots of the instance in one contiguous piece, equal for all instances of a type. Fields
    /// that are only extracted, and that egress does not use, have slots elsewhere.
    pub stride: u16,
    pub fields: Vec<Field>,
    /// Length without the variable-length field.
    pub fixed_bytes: u32,
    /// The most bytes that may be extracted; 0 for no limit.
    pub max_bytes: u32,
    pub has_varbit: bool,
    /// A header type's length expression, evaluated after the fields before the varbit.
    pub built: bool,
    /// Its position in the deparser's order, from 1; 0 if it has none, or several.
    pub rank: u64,
    /// Fields to read on extraction.
    pub extract: FieldPlans,
    /// Fields that the program may have written, stored into the packet at the end.
    pub patch: FieldPlans,
    /// The other members of its union.
    pub siblings: Vec<u16>,
}

impl Header {
    pub(crate) const ORIGIN: u16 = 1;
    pub(crate) const VARBIT_OFFSET: u16 = 2;
    pub(crate) const VARBIT_BYTES: u16 = 3;

    /// The number of slots before the fields.
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
    /// First slot; [`super::slot::NOWHERE`] if nothing refers to the field.
    pub slot: Slot,
    /// Bit offset in the header, assuming an empty variable-length field.
    pub bit: u32,
    pub after_varbit: bool,
    pub varbit: bool,
}

/// The positions of a header's fields in its bytes, grouped to be read or written together.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldPlans {
    /// Words of eight bytes, then the fields in each, word by word.
    pub words: Vec<Word>,
    pub parts: Vec<Part>,
    /// Fields that fit into no such word.
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
    /// Its byte offset in the header.
    pub byte: u16,
    /// The number of fields in it.
    pub count: u16,
}

/// A field in a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub slot: Slot,
    pub shift: u8,
    pub mask: u64,
}

/// A field's position in the bytes, and its slot: a window of whole bytes around the field, and the
/// field's shift in the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPlan {
    pub slot: Slot,
    /// Byte offset of the window in the header.
    pub byte: u16,
    pub window: Window,
    pub shift: u8,
    pub mask: u64,
}

/// The number of bytes to read or write for a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Window {
    One,
    Two,
    Four,
    /// Bit by bit: `width` bits from bit `first`, possibly after a variable-length field.
    Bits {
        first: u8,
        width: u16,
        after_varbit: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub headers: Vec<u16>,
    /// The number of elements in use.
    pub next: Slot,
}

#[derive(Clone, Debug)]
pub(crate) struct UnionStack {
    /// The members of each element.
    pub unions: Vec<Vec<u16>>,
    /// The elements of each member.
    pub columns: Vec<Vec<u16>>,
    pub next: Slot,
}

/// A header that may be selected at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeaderRef {
    Fixed(u16),
    Element { stack: u16, i: Slot },
}
