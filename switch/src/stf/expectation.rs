//! An expected packet, and its differences from another packet.

use std::fmt::Write;

/// One `expect` statement: its line, and the data as hexadecimal digits with `*` as a wildcard.
pub(super) struct Expectation {
    pub line: usize,
    pub digits: String,
    pub exact: bool,
    pub any: bool,
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// The difference, or `None`.
pub(super) fn difference(expected: &Expectation, bytes: &[u8]) -> Option<String> {
    if expected.any {
        return None;
    }
    let got = hex(bytes);
    let short = got.len() < expected.digits.len();
    let long = expected.exact && got.len() != expected.digits.len();
    let mut pairs = expected.digits.chars().zip(got.chars());
    let at = pairs.position(|(wanted, found)| wanted != '*' && wanted != found);
    let where_wrong = match at {
        Some(at) => format!("digit {at} differs"),
        None if short || long => {
            format!("{} digits instead of {}", got.len(), expected.digits.len())
        }
        None => return None,
    };
    Some(format!("{where_wrong}\n  expected {}\n  got      {got}", expected.digits))
}
