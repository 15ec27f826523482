//! What a program is lowered to: a flat list of small operations on numbered 64-bit slots.
//!
//! A field of up to 64 bits is one slot, zero-extended; a wider one is several, the least
//! significant first. Intermediate values are exact (bmv2 computes with unbounded integers):
//! the lowering proves that 64 bits suffice, or uses a [`super::WideOp`].

use super::slot::Slot;

/// Index of an operation; 0 is [`Op::Halt`].
pub(crate) type Pc = u32;

/// One operation. `d` is the destination, `a` and `b` the operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// The control ends.
    Halt,
    /// The action ends; on to the table's next node.
    Return,
    Jump(Pc),
    /// To `to` when `a` is zero.
    JumpZero {
        a: Slot,
        to: Pc,
    },
    /// To `to` when `a == b`; fused compare and branch.
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
    /// Unsigned; a zero divisor gives 0.
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
    /// `d = stack[slot i].field`, 0 beyond the stack; `offset` is the field's in a header.
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
    /// How many elements a stack has in use.
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
    /// The same for a stack of unions.
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
    /// The same for the element that slot `i` selects.
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
    /// The same with elements of stacks; index into the list of dynamic copies.
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
    /// Parser: the next header of the packet.
    Extract {
        header: u16,
    },
    /// Parser: with `bits` bits of variable-length field.
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
    /// Parser: member `member` of the next union of a stack of unions.
    ExtractNextUnion {
        stack: u16,
        member: u16,
    },
    /// Parser: skips `bits` bits.
    Advance {
        bits: Slot,
    },
    /// Parser: `d` takes `width` bits from `offset` bits after the cursor.
    Lookahead {
        d: Slot,
        offset: u16,
        width: u16,
    },
    /// Parser: an error with the code in `code` when `a` is zero.
    Verify {
        a: Slot,
        code: Slot,
    },
    /// Parser: index into the selects.
    SelectState(u32),
    /// Looks a table up and runs the action found.
    Table(u32),
    /// Runs the member of an action profile that the first parameter names, or one of the
    /// group that it names; goes where the table does then.
    Choose {
        table: u16,
        group: bool,
    },
    /// All limbs of a wide register; of a narrow one, what `mask` keeps.
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
    /// Compares a checksum with what the packet holds; index into the checksums.
    VerifyChecksum(u32),
    UpdateChecksum(u32),
    /// Uniform between `a` and `b` inclusive; `d` stays when `a > b`.
    Random {
        d: Slot,
        a: Slot,
        b: Slot,
        mask: u64,
    },
    /// Stops the packet when `a` is zero.
    Assert {
        a: Slot,
    },
    /// Index into the log messages.
    Log(u32),
}
