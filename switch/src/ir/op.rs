//! A lowered program: a flat list of small operations on numbered 64-bit slots.
//!
//! A field of up to 64 bits is one slot, zero-extended; a wider field is several slots, the least
//! significant first. Intermediate values are exact, because bmv2 computes with unbounded integers.
//! The lowering proves that 64 bits suffice, or uses a [`super::WideOp`].

use super::slot::Slot;

/// Index of an operation; 0 is [`Op::Halt`].
pub(crate) type Pc = u32;

/// One operation. `d` is the destination, `a` and `b` the operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// End of the control.
    Halt,
    /// End of the action; continues at the table's next node.
    Return,
    Jump(Pc),
    /// Jumps to `to` if `a` is zero.
    JumpZero {
        a: Slot,
        to: Pc,
    },
    /// Jumps to `to` if `a == b`; a fused compare and branch.
    JumpEq {
        a: Slot,
        b: Slot,
        to: Pc,
    },
    JumpNe {
        a: Slot,
        b: Slot,
        to: Pc,
    },
    Move {
        d: Slot,
        a: Slot,
        mask: u64,
    },
    Add {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Sub {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Mul {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    And {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Or {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Xor {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Not {
        d: Slot,
        a: Slot,
        mask: u64,
    },
    Shl {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Shr {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    /// Arithmetic shift of a sign-extended value.
    Sar {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    /// Unsigned; division by zero gives 0.
    Div {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Rem {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    Select {
        d: Slot,
        c: Slot,
        a: Slot,
        b: Slot,
    },
    /// Sign-extends the low `bits` to 64.
    SignExtend {
        d: Slot,
        a: Slot,
        bits: u8,
    },
    Eq {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    Ne {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    LessU {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    LessEqU {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    LessS {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    LessEqS {
        d: Slot,
        a: Slot,
        b: Slot,
    },
    /// Clamps an unsigned value to `0..=max`.
    ClampU {
        d: Slot,
        a: Slot,
        max: u64,
    },
    /// Clamps a signed value to `0..=max`.
    ClampPositive {
        d: Slot,
        a: Slot,
        max: u64,
    },
    /// Clamps a signed value to `bits` bits of two's complement.
    ClampS {
        d: Slot,
        a: Slot,
        bits: u8,
    },
    /// Index into the wide operations.
    Wide(u32),
    /// `d = stack[slot i].field`, or 0 past the end; `offset` is the field's slot within a header.
    LoadElement {
        d: Slot,
        i: Slot,
        stack: u16,
        offset: u16,
    },
    StoreElement {
        i: Slot,
        a: Slot,
        stack: u16,
        offset: u16,
    },
    /// Index of the last element that was extracted or pushed.
    StackLast {
        d: Slot,
        stack: u16,
    },
    /// The number of a stack's elements in use.
    StackCount {
        d: Slot,
        stack: u16,
    },
    /// Moves the elements by `a`: up for a push, down for a pop.
    ShiftStack {
        stack: u16,
        a: Slot,
        push: bool,
    },
    /// Like `ShiftStack`, for a stack of unions.
    ShiftUnions {
        stack: u16,
        a: Slot,
        push: bool,
    },
    CopyStack {
        d: u16,
        a: u16,
    },
    SetValid {
        header: u16,
    },
    SetInvalid {
        header: u16,
    },
    /// Like `SetValid`, for the element that slot `i` selects.
    SetElementValid {
        stack: u16,
        i: Slot,
    },
    SetElementInvalid {
        stack: u16,
        i: Slot,
    },
    /// `header[d] = header[a]`, validity included.
    CopyHeader {
        d: u16,
        a: u16,
    },
    /// Like `CopyHeader`, with elements of stacks; index into the list of dynamic copies.
    CopyDynamic(u32),
    HeadersEqual {
        d: Slot,
        a: u16,
        b: u16,
    },
    VarbitsEqual {
        d: Slot,
        a: u16,
        b: u16,
    },
    /// Copies a variable-length field, by reference to the packet's bytes.
    CopyVarbit {
        d: u16,
        a: u16,
    },
    /// Parser: extracts the next header.
    Extract {
        header: u16,
    },
    /// Parser: extracts a header with `bits` bits of variable-length field.
    ExtractVarbit {
        header: u16,
        bits: Slot,
    },
    ExtractNext {
        stack: u16,
    },
    ExtractNextVarbit {
        stack: u16,
        bits: Slot,
    },
    /// Parser: extracts member `member` of the next union of a stack of unions.
    ExtractNextUnion {
        stack: u16,
        member: u16,
    },
    /// Parser: skips `bits` bits.
    Advance {
        bits: Slot,
    },
    /// Parser: `d` gets `width` bits at `offset` bits after the cursor.
    Lookahead {
        d: Slot,
        offset: u16,
        width: u16,
    },
    /// Parser: ends with the error in `code` if `a` is zero.
    Verify {
        a: Slot,
        code: Slot,
    },
    /// Parser: transitions by a select; index into the selects.
    SelectState(u32),
    /// Looks up a table and runs the action found.
    Table(u32),
    /// Runs the action profile's member that the first parameter names, or one of the group that it
    /// names. Continues where the table does.
    Choose {
        table: u16,
        group: bool,
    },
    /// All limbs of a wide register; `mask` applies to a narrow one.
    RegisterRead {
        d: Slot,
        register: u16,
        i: Slot,
        mask: u64,
    },
    RegisterWrite {
        register: u16,
        i: Slot,
        a: Slot,
    },
    Count {
        counter: u16,
        i: Slot,
    },
    Meter {
        meter: u16,
        i: Slot,
        d: Slot,
        mask: u64,
    },
    /// `d = (base + calculation mod size) & mask`; index into the hash calls.
    Hash(u32),
    /// Compares a checksum with the packet's; index into the checksums.
    VerifyChecksum(u32),
    UpdateChecksum(u32),
    /// Uniform between `a` and `b`, inclusive; `d` does not change if `a > b`.
    Random {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    /// Aborts the packet if `a` is zero.
    Assert {
        a: Slot,
    },
    /// Logs a message; index into the log messages.
    Log(u32),
}
