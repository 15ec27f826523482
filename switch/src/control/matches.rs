//! Converts matches and values between the control plane's text and a table's limbs.

use super::entry::Match;
use super::error::ControlError;
use super::names::find;
use crate::ir::{
    FieldMatch, Integer, KeyField, MatchKind, Table as Declared, normalise, prefix_mask, to_hex,
};
use std::collections::BTreeMap;

/// The text of an error's object, which is made only for an error.
pub(super) type ObjectText<'a> = &'a dyn Fn() -> String;

pub(super) fn number(
    object: ObjectText<'_>,
    text: &str,
    width: u32,
) -> Result<Vec<u64>, ControlError> {
    let value = Integer::parse(text).and_then(|integer| integer.to_width(width));
    value.ok_or_else(|| ControlError::Value {
        object: object(),
        value: text.into(),
        expected: format!("a number of at most {width} bits, decimal or 0x..."),
    })
}

/// The matches of an entry, one for each field of the key.
pub(super) fn matches(
    table: &Declared,
    given: &BTreeMap<String, Match>,
) -> Result<Vec<FieldMatch>, ControlError> {
    let mut by_field: Vec<Option<&Match>> = vec![None; table.key.len()];
    for (name, part) in given {
        let names = table.key.iter().map(|field| field.name.as_str());
        let field = find(&format_args!("key field of table '{}'", table.name), name, names)?;
        by_field[field] = Some(part);
    }
    let fields = table.key.iter().zip(by_field);
    fields.map(|(field, part)| field_match(table, field, part)).collect()
}

fn field_match(
    table: &Declared,
    field: &KeyField,
    part: Option<&Match>,
) -> Result<FieldMatch, ControlError> {
    let object = || format!("table '{}', field '{}'", table.name, field.name);
    let value = |text: &str| number(&object, text, field.width);
    let ones = prefix_mask(field.width, field.width);
    let zeros = vec![0; ones.len()];
    let mut found = match (field.kind, part) {
        (MatchKind::Exact, Some(Match::Exact(text))) => FieldMatch::Exact(value(text)?),
        (MatchKind::Exact, None) => {
            let object = format!("table '{}'", table.name);
            return Err(ControlError::Missing { object, name: field.name.clone() });
        }
        (MatchKind::Lpm, Some(Match::Lpm(text, length))) => {
            FieldMatch::Lpm(value(text)?, prefix(&object, *length, field.width)?)
        }
        (MatchKind::Lpm, Some(Match::Exact(text))) => FieldMatch::Lpm(value(text)?, field.width),
        (MatchKind::Lpm, None) => FieldMatch::Lpm(zeros, 0),
        (MatchKind::Ternary, Some(Match::Ternary(text, mask))) => {
            FieldMatch::Ternary(value(text)?, value(mask)?)
        }
        (MatchKind::Ternary, Some(Match::Exact(text) | Match::Optional(text))) => {
            FieldMatch::Ternary(value(text)?, ones)
        }
        (MatchKind::Ternary, None) => FieldMatch::Ternary(zeros.clone(), zeros),
        (MatchKind::Range, Some(Match::Range(from, to))) => {
            range(&object, value(from)?, value(to)?)?
        }
        (MatchKind::Range, Some(Match::Exact(text))) => {
            FieldMatch::Range(value(text)?, value(text)?)
        }
        (MatchKind::Range, None) => FieldMatch::Range(zeros, ones),
        (kind, Some(other)) => {
            let expected = format!("a match of kind {kind:?}").to_lowercase();
            return Err(ControlError::Value {
                object: object(),
                value: format!("{other:?}"),
                expected,
            });
        }
    };
    normalise(&mut found, field.width);
    Ok(found)
}

/// A match of any kind; a prefix becomes a mask.
pub(super) fn open_match(
    object: ObjectText<'_>,
    width: u32,
    part: Option<&Match>,
) -> Result<FieldMatch, ControlError> {
    let value = |text: &str| number(object, text, width);
    let masked = |mut value: Vec<u64>, mask: Vec<u64>| {
        value.iter_mut().zip(&mask).for_each(|(limb, keep)| *limb &= keep);
        FieldMatch::Ternary(value, mask)
    };
    Ok(match part {
        None => {
            let zeros = prefix_mask(width, 0);
            FieldMatch::Ternary(zeros.clone(), zeros)
        }
        Some(Match::Exact(text) | Match::Optional(text)) => FieldMatch::Exact(value(text)?),
        Some(Match::Ternary(text, mask)) => masked(value(text)?, value(mask)?),
        Some(Match::Lpm(text, length)) => {
            masked(value(text)?, prefix_mask(width, prefix(object, *length, width)?))
        }
        Some(Match::Range(from, to)) => range(object, value(from)?, value(to)?)?,
    })
}

fn prefix(object: ObjectText<'_>, length: u32, width: u32) -> Result<u32, ControlError> {
    if length <= width {
        return Ok(length);
    }
    let expected = format!("a prefix of 0 to {width}");
    Err(ControlError::Value { object: object(), value: length.to_string(), expected })
}

fn range(object: ObjectText<'_>, from: Vec<u64>, to: Vec<u64>) -> Result<FieldMatch, ControlError> {
    if from.iter().rev().le(to.iter().rev()) {
        return Ok(FieldMatch::Range(from, to));
    }
    Err(ControlError::Value {
        object: object(),
        value: format!("{} to {}", to_hex(&from), to_hex(&to)),
        expected: "a range that is not empty".into(),
    })
}

/// Matches in the control plane's form, without fields that match anything.
pub(super) fn shown(table: &Declared, matches: &[FieldMatch]) -> BTreeMap<String, Match> {
    let mut all = BTreeMap::new();
    for (field, part) in table.key.iter().zip(matches) {
        let part = match part {
            FieldMatch::Exact(value) => Match::Exact(to_hex(value)),
            FieldMatch::Lpm(_, 0) => continue,
            FieldMatch::Lpm(value, length) => Match::Lpm(to_hex(value), *length),
            FieldMatch::Ternary(_, mask) if mask.iter().all(|&limb| limb == 0) => continue,
            FieldMatch::Ternary(value, mask) => Match::Ternary(to_hex(value), to_hex(mask)),
            FieldMatch::Range(from, to) => Match::Range(to_hex(from), to_hex(to)),
        };
        all.insert(field.name.clone(), part);
    }
    all
}
