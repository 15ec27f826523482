//! Reads the JSON's type-value objects.

use super::tree::{Binary, Cast, Expr, HeaderExpr, Part, Unary};
use crate::ir::Integer;
use crate::load::error::LoadError;
use crate::load::names::Names;
use crate::load::value::Value;

/// The deepest nesting of expressions; p4c's stay far below.
const DEPTH_MAX: usize = 200;

impl Names {
    /// Reads a type-value object that yields a value.
    pub(crate) fn expr(&self, value: &Value) -> Result<Expr, LoadError> {
        self.expr_at(value, 0)
    }

    fn expr_at(&self, value: &Value, depth: usize) -> Result<Expr, LoadError> {
        if depth > DEPTH_MAX {
            return Err(self.malformed("an expression", "less nesting", value));
        }
        let kind = self.text(value, "type")?;
        let inner = &value["value"];
        match kind {
            "field" => self.field_expr(inner),
            "hexstr" => match inner.as_str().and_then(Integer::from_hex) {
                Some(integer) => Ok(Expr::Constant(integer)),
                None => Err(self.malformed("hexstr", "a hexadecimal number", inner)),
            },
            "bool" => match inner.as_bool() {
                Some(bool) => Ok(Expr::Bool(bool)),
                None => Err(self.malformed("bool", "true or false", inner)),
            },
            "local" | "runtime_data" => match inner.as_u64() {
                Some(index) => Ok(Expr::Local(index)),
                None => Err(self.malformed(kind, "the index of a parameter", inner)),
            },
            "register" => {
                let register = self.register(self.string(&inner[0])?)?;
                let index = Box::new(self.expr_at(&inner[1], depth + 1)?);
                Ok(Expr::Register { register, index })
            }
            "stack_field" => {
                let stack = self.stack(self.string(&inner[0])?)?;
                let field = self.stack_field(stack, self.string(&inner[1])?)?;
                Ok(Expr::Last { stack, field })
            }
            "lookahead" => {
                let part = |i: usize| inner[i].as_u64().filter(|&n| n <= 1 << 14);
                match (part(0), part(1)) {
                    (Some(offset), Some(width)) if width > 0 => {
                        Ok(Expr::Lookahead { offset: offset as u16, width: width as u16 })
                    }
                    _ => Err(self.malformed("lookahead", "[offset, width]", inner)),
                }
            }
            "expression" if inner.get("op").is_none() => self.expr_at(inner, depth + 1),
            "expression" => self.operation(inner, depth + 1),
            _ => Err(self.unsupported("a value of type", kind)),
        }
    }

    fn field_expr(&self, inner: &Value) -> Result<Expr, LoadError> {
        let (name, field) = (self.string(&inner[0])?, self.string(&inner[1])?);
        let header = self.header(name)?;
        match field {
            "$valid$" => Ok(Expr::Valid(header)),
            _ => Ok(Expr::Field { header, field: self.header_field(header, field)? }),
        }
    }

    fn operation(&self, e: &Value, depth: usize) -> Result<Expr, LoadError> {
        let op = self.text(e, "op")?;
        let left = || self.expr_at(&e["left"], depth).map(Box::new);
        let right = || self.expr_at(&e["right"], depth).map(Box::new);
        let binary = |op| Ok(Expr::Binary(op, left()?, right()?));
        let unary = |op| Ok(Expr::Unary(op, right()?));
        match op {
            "+" => binary(Binary::Add),
            // Without a left operand it is the unary minus.
            "-" if e["left"].is_null() => {
                let zero = Box::new(Expr::Constant(Integer::new(false, vec![])));
                Ok(Expr::Binary(Binary::Sub, zero, right()?))
            }
            "-" => binary(Binary::Sub),
            "*" => binary(Binary::Mul),
            "/" => binary(Binary::Div),
            "%" => binary(Binary::Rem),
            "&" => binary(Binary::And),
            "|" => binary(Binary::Or),
            "^" => binary(Binary::Xor),
            "<<" => binary(Binary::Shl),
            ">>" => binary(Binary::Shr),
            "==" | "!=" => self.equality(op == "==", e, depth),
            "<" => binary(Binary::Less),
            "<=" => binary(Binary::LessEq),
            ">" => binary(Binary::Greater),
            ">=" => binary(Binary::GreaterEq),
            "and" => binary(Binary::LogicalAnd),
            "or" => binary(Binary::LogicalOr),
            "not" => unary(Unary::Not),
            "~" => unary(Unary::Complement),
            "d2b" => unary(Unary::ToBool),
            // Truth values already are 0 and 1.
            "b2d" => Ok(*right()?),
            "two_comp_mod" => self.cast(Cast::Wrap, e, depth),
            "usat_cast" => self.cast(Cast::SaturateUnsigned, e, depth),
            "sat_cast" => self.cast(Cast::SaturateSigned, e, depth),
            "?" => Ok(Expr::Select {
                condition: Box::new(self.expr_at(&e["cond"], depth)?),
                then: left()?,
                other: right()?,
            }),
            _ => self.header_operation(op, e, depth),
        }
    }

    /// `==`, or `!=`, of headers, variable-length fields or numbers.
    fn equality(&self, equal: bool, e: &Value, depth: usize) -> Result<Expr, LoadError> {
        let same = if self.is_header(&e["left"]) {
            Expr::SameHeader(self.fixed_header(&e["left"])?, self.fixed_header(&e["right"])?)
        } else {
            let left = Box::new(self.expr_at(&e["left"], depth)?);
            let right = Box::new(self.expr_at(&e["right"], depth)?);
            match (self.varbit(&left), self.varbit(&right)) {
                (Some(left), Some(right)) => Expr::SameVarbit(left, right),
                _ if equal => return Ok(Expr::Binary(Binary::Eq, left, right)),
                _ => return Ok(Expr::Binary(Binary::Ne, left, right)),
            }
        };
        if equal { Ok(same) } else { Ok(Expr::Unary(Unary::Not, Box::new(same))) }
    }

    /// Operators on headers, their stacks and unions.
    fn header_operation(&self, op: &str, e: &Value, depth: usize) -> Result<Expr, LoadError> {
        match op {
            "valid" => match self.header_expr_at(&e["right"], depth)? {
                HeaderExpr::Fixed(header) => Ok(Expr::Valid(header)),
                HeaderExpr::Element { stack, index } => {
                    Ok(Expr::Element { stack, index, part: Part::Valid })
                }
            },
            "valid_union" => {
                let name = self.string(&e["right"]["value"])?;
                Ok(Expr::ValidUnion(self.union(name)?.to_vec()))
            }
            "access_field" => {
                let Some(field) = e["right"].as_u64() else {
                    return Err(self.malformed("access_field", "a field's index", &e["right"]));
                };
                match self.header_expr_at(&e["left"], depth)? {
                    HeaderExpr::Fixed(header) => {
                        let field = self.field_index(header, field)?;
                        Ok(Expr::Field { header, field })
                    }
                    HeaderExpr::Element { stack, index } => {
                        let field = self.field_index(self.stacks[stack as usize].1[0], field)?;
                        Ok(Expr::Element { stack, index, part: Part::Field(field) })
                    }
                }
            }
            "last_stack_index" => Ok(Expr::LastIndex(self.stack_operand(&e["right"])?)),
            "size_stack" => Ok(Expr::StackCount(self.stack_operand(&e["right"])?)),
            _ => Err(self.unsupported("the operator", op)),
        }
    }

    fn cast(&self, cast: Cast, e: &Value, depth: usize) -> Result<Expr, LoadError> {
        let width = e["right"]["value"].as_str().and_then(Integer::from_hex);
        match width.and_then(|width| width.to_u64()) {
            Some(width @ 1..=65_535) => {
                let operand = Box::new(self.expr_at(&e["left"], depth)?);
                Ok(Expr::Cast(cast, operand, width as u32))
            }
            _ => Err(self.malformed("a cast", "a width in bits", &e["right"])),
        }
    }

    fn stack_operand(&self, value: &Value) -> Result<u16, LoadError> {
        self.stack(self.string(&value["value"])?)
    }

    /// The header of a variable-length field.
    pub(crate) fn varbit(&self, e: &Expr) -> Option<u16> {
        match e {
            Expr::Field { header, field }
                if self.kind(*header).fields[*field as usize].width.is_none() =>
            {
                Some(*header)
            }
            _ => None,
        }
    }

    fn is_header(&self, value: &Value) -> bool {
        value["type"] == "header"
    }

    fn fixed_header(&self, value: &Value) -> Result<u16, LoadError> {
        match self.header_expr(value)? {
            HeaderExpr::Fixed(header) => Ok(header),
            HeaderExpr::Element { .. } => {
                Err(self.unsupported("a comparison with", "a stack element chosen at run time"))
            }
        }
    }

    /// Reads an operand that is a header.
    pub(crate) fn header_expr(&self, value: &Value) -> Result<HeaderExpr, LoadError> {
        self.header_expr_at(value, 0)
    }

    fn header_expr_at(&self, value: &Value, depth: usize) -> Result<HeaderExpr, LoadError> {
        if depth > DEPTH_MAX {
            return Err(self.malformed("an expression", "less nesting", value));
        }
        let inner = &value["value"];
        match self.text(value, "type")? {
            "header" => Ok(HeaderExpr::Fixed(self.header(self.string(inner)?)?)),
            "expression" if inner["op"] == "dereference_header_stack" => {
                let stack = self.stack_operand(&inner["left"])?;
                let index = Box::new(self.expr_at(&inner["right"], depth + 1)?);
                Ok(HeaderExpr::Element { stack, index })
            }
            "expression" if inner.get("op").is_none() => self.header_expr_at(inner, depth + 1),
            "expression" => Err(self.unsupported("the header operator", self.text(inner, "op")?)),
            kind => Err(self.unsupported("a header operand of type", kind)),
        }
    }
}
