//! Expressions as a tree with resolved names.

use crate::ir::Integer;

/// An expression that yields a number or a truth value (0 or 1).
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Field {
        header: u16,
        field: u16,
    },
    Valid(u16),
    Element {
        stack: u16,
        index: Box<Expr>,
        part: Part,
    },
    /// The field of the last element in use.
    Last {
        stack: u16,
        field: u16,
    },
    Constant(Integer),
    Bool(bool),
    Local(u64),
    Register {
        register: u16,
        index: Box<Expr>,
    },
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Cast(Cast, Box<Expr>, u32),
    Select {
        condition: Box<Expr>,
        then: Box<Expr>,
        other: Box<Expr>,
    },
    LastIndex(u16),
    StackCount(u16),
    ValidUnion(Vec<u16>),
    SameHeader(u16, u16),
    /// Compares the variable-length fields of two headers.
    SameVarbit(u16, u16),
    Lookahead {
        offset: u16,
        width: u16,
    },
}

/// A part of a header.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Valid,
    Field(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    /// Bitwise complement.
    Complement,
    Not,
    /// True if nonzero.
    ToBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    LogicalAnd,
    LogicalOr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cast {
    /// Two's complement of this width.
    Wrap,
    SaturateUnsigned,
    SaturateSigned,
}

/// A header operand.
#[derive(Clone, Debug)]
pub(crate) enum HeaderExpr {
    Fixed(u16),
    Element { stack: u16, index: Box<Expr> },
}
