//! Parses the words of STF statements: names, matches, parameters, rates.

use crate::control::Match;
use crate::ir::{KeyField, MatchKind};
use crate::state::MeterConfig;
use std::collections::BTreeMap;

/// The index of the name that equals `name` or ends in it after a dot.
pub(super) fn ends_in(names: &[&str], name: &str) -> Option<usize> {
    let exact = names.iter().position(|known| *known == name);
    let ends = |known: &&str| known.strip_suffix(name).is_some_and(|front| front.ends_with('.'));
    exact.or_else(|| names.iter().position(ends))
}

/// Finds a field of the key: `extra$0.h` is `extra[0].h`, and `.valid` means `.$valid$`.
pub(super) fn find_field<'a>(key: &'a [KeyField], name: &str) -> Result<&'a KeyField, String> {
    let names: Vec<&str> = key.iter().map(|field| field.name.as_str()).collect();
    let mut spellings = vec![name.to_owned(), format!("{name}$"), format!("{name}.$valid$")];
    if let Some((front, rest)) = name.split_once('$') {
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        if digits > 0 {
            spellings.push(format!("{front}[{}]{}", &rest[..digits], &rest[digits..]));
        }
    }
    if let Some(front) = name.strip_suffix("valid") {
        spellings.push(format!("{front}$valid$"));
    }
    let found = spellings.iter().find_map(|name| ends_in(&names, name));
    found.map(|at| &key[at]).ok_or(format!("there is no key field '{name}'"))
}

/// A match of the field's kind; `*` matches any digit.
pub(super) fn part(field: &KeyField, value: &str) -> Result<Match, String> {
    let plain = |text: &str| decimal(&text.replace('*', "0"));
    match field.kind {
        MatchKind::Exact => Ok(Match::Exact(decimal(value)?)),
        // An extension in simple_switch_CLI's syntax: the grammar has no ranges.
        MatchKind::Range => {
            let (from, to) = value.split_once("->").unwrap_or((value, value));
            Ok(Match::Range(decimal(from)?, decimal(to)?))
        }
        MatchKind::Lpm => {
            if let Some((value, length)) = value.split_once('/') {
                let length = length.parse().map_err(|_| format!("'{length}': no prefix"))?;
                return Ok(Match::Lpm(decimal(value)?, length));
            }
            let stars = value.chars().filter(|&digit| digit == '*').count() as u32;
            let bits = if value.starts_with("0b") { 1 } else { 4 };
            let length = field.width.saturating_sub(stars * bits);
            Ok(Match::Lpm(plain(value)?, length))
        }
        MatchKind::Ternary if value.contains('*') => {
            let (base, ones) = match value.get(..2) {
                Some("0b" | "0B") => ("0b", "1"),
                Some("0x" | "0X") => ("0x", "f"),
                _ => return Err(format!("'{value}': expected 0x or 0b before a *")),
            };
            let digit = |c: char| if c == '*' { "0" } else { ones };
            let mask: String = value[2..].chars().map(digit).collect();
            Ok(Match::Ternary(plain(value)?, decimal(&format!("{base}{mask}"))?))
        }
        // An extension in simple_switch_CLI's syntax: the grammar only has wildcards of whole
        // digits.
        MatchKind::Ternary if value.contains("&&&") => {
            let (value, mask) = value.split_once("&&&").unwrap_or((value, ""));
            Ok(Match::Ternary(decimal(value)?, decimal(mask)?))
        }
        MatchKind::Ternary => Ok(Match::Exact(decimal(value)?)),
    }
}

/// Converts `0b...` to hexadecimal for the control plane; keeps any other text.
pub(super) fn decimal(text: &str) -> Result<String, String> {
    match text.strip_prefix("0b").or(text.strip_prefix("0B")) {
        Some(digits) => match u128::from_str_radix(digits, 2) {
            Ok(value) => Ok(format!("{value:#x}")),
            Err(_) => Err(format!("'{text}': expected a number")),
        },
        None => Ok(text.replace("0X", "0x")),
    }
}

pub(super) fn params(arguments: &str) -> Result<BTreeMap<String, String>, String> {
    let list = arguments.trim_end().strip_suffix(')').ok_or("expected a closing )")?;
    let mut params = BTreeMap::new();
    for argument in list.split(',').map(str::trim).filter(|argument| !argument.is_empty()) {
        let (name, value) = argument.split_once(':').ok_or(format!("'{argument}': no value"))?;
        params.insert(name.trim().to_owned(), decimal(value.trim())?);
    }
    Ok(params)
}

/// `rate:burst rate:burst`, rates in tokens per microsecond.
pub(super) fn meter_config(words: &[&str]) -> Result<MeterConfig, String> {
    let pair = |word: &str| -> Option<(u64, u64)> {
        let (rate, burst) = word.split_once(':')?;
        Some(((rate.parse::<f64>().ok()? * 1e6) as u64, burst.parse().ok()?))
    };
    match words.iter().map(|word| pair(word)).collect::<Option<Vec<_>>>().as_deref() {
        Some([(cir, cburst), (pir, pburst)]) => {
            Ok(MeterConfig::TwoRate { cir: *cir, cburst: *cburst, pir: *pir, pburst: *pburst })
        }
        _ => Err("expected two RATE:BURST".into()),
    }
}
