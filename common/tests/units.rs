//! Quantities are formatted as in Python: the examples are in `units.json`.

use narrows_common::{Duration, Rate};
use serde_json::Value;

fn written(kind: &str) -> Vec<(u64, String)> {
    let examples: Value = serde_json::from_str(include_str!("units.json")).expect("is JSON");
    serde_json::from_value(examples["written"][kind].clone()).expect("pairs of number and text")
}

#[test]
fn a_rate_is_formatted_in_its_largest_whole_unit() {
    for (bps, text) in written("rate") {
        assert_eq!(Rate::from_bps(bps).to_string(), text);
    }
}

#[test]
fn a_duration_is_formatted_in_its_largest_whole_unit() {
    for (ps, text) in written("duration") {
        assert_eq!(Duration::from_ps(ps).to_string(), text);
    }
}
