//! New-AIMD (Jasem, Zukarnain, Othman, Subramaniam 2010): every event halves the base b, and never
//! the additive part: w' = w - b/2, b' = b/2.
//!
//! Derived from the paper's equations: its recursion k_m = k_2 / 2^(m-2) holds only if the additive
//! part survives every cut. After about log2(b) events a flow hardly reduces its window, and a flow
//! that joins late starves. `rebase = 1` is our guard against that; it is off in the paper's
//! reading. Constants: 1/2 (the paper); the guard's 1/8 is ours.

use crate::api::{Class, Need, Parameter};
use crate::cc::control::{Setup, Variant};
use crate::cc::parts::based_window::{BasedWindow, Rebase};

const DECREASE: f64 = 0.5;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "new-aimd",
    title: "halves the base only; the growth since the first event is never cut",
    reference: "Jasem et al., The Delay with New-AIMD Congestion Avoidance and Control Algorithm, Information Technology Journal, 2010",
    class: Class::LossBased,
    needs: &[Need::Sack],
    parameters: &[Parameter {
        name: "rebase",
        unit: "flag",
        default: 0.0,
        min: 0.0,
        max: 1.0,
        meaning: "1: if half the base is below max(1 segment, cwnd/8), the base is the whole window before the cut",
        origin: "0: the paper; 1: ours",
    }],
    not_implemented: &["the paper does not define time-outs and slow start; they are Reno's"],
    build: |setup| Box::new(window(setup)),
};

fn window(setup: &Setup) -> BasedWindow {
    let is_guarded = setup.parameters.get("rebase") >= 0.5;
    let rebase = if is_guarded { Rebase::Guarded } else { Rebase::Never };
    BasedWindow::new(setup, rebase, DECREASE)
}
