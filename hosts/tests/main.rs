//! The tests of `hosts/` from outside, in one binary: it links once, and its tests share all cores.
#![allow(missing_docs)]

mod bbr;
mod both_ways;
mod bulk;
mod content;
mod exact_marks;
mod fuzz;
mod host;
mod hostile;
mod messages;
mod net;
mod ns2;
mod rack;
mod script;
mod trace;
mod udp;
mod variants;
mod window_rules;

/// How many times more cases `make fuzz` has than `make test`.
fn scale() -> u32 {
    std::env::var("NARROWS_FUZZ_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}
