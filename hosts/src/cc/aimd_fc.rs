//! AIMD-FC (Lahanas & Tsaoussidis): a loss halves only the window left by the previous event.
//!
//! With x that window and k the growth since, a loss sets the window to w' = x/2 + k; w' is the
//! next x. A flow's window varies between 2/3 and 1 of its share, with a mean of 5/6; AIMD's mean
//! is 3/4.
//!
//! Reconstructed from the abstract and from its use in Jasem 2010, because the paper's full text
//! was not available. Constant: 1/2, as in AIMD.

use crate::api::Class;
use crate::cc::control::Variant;
use crate::cc::parts::based_window::{BasedWindow, Rebase};

const DECREASE: f64 = 0.5;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "aimd-fc",
    title: "AIMD with fast convergence: halves the window of the last event, keeps the growth since",
    reference: "Lahanas, Tsaoussidis, Exploiting the efficiency and fairness potential of AIMD-based congestion avoidance and control, Computer Networks 43 (2003)",
    class: Class::LossBased,
    needs: &[],
    parameters: &[],
    not_implemented: &[
        "anything beyond the paper's abstract, from which the rule is reconstructed",
    ],
    build: |setup| Box::new(BasedWindow::new(setup, Rebase::Always, DECREASE)),
};
