//! Reno's fast retransmit and fast recovery (RFC 5681 section 3.2): any new ACK ends recovery.
//!
//! [`super::newreno`] without partial ACKs. By the RFC's rule each further loss in a window cuts
//! the window again, given enough duplicates. In the ns2 profiles a window has only one fast
//! retransmit (ns-2's `bugFix_`), so a second loss usually needs a time-out; and the ACK that ends
//! recovery also increases the window.

use crate::recovery::newreno::{NewReno, PartialAck};
use crate::recovery::rule::Rule;

/// The rule's entry in the list.
pub const RULE: Rule = Rule {
    name: "reno",
    title: "fast retransmit and recovery that ends at the first new ACK",
    reference: "RFC 5681 section 3.2, RFC 3042; ns-2.35 Agent/TCP/Reno",
    needs: &[],
    not_implemented: &["fast retransmit of data that was outstanding at a time-out"],
    build: |setup| Box::new(NewReno::new(setup, PartialAck::EndsRecovery)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Stage;
    use crate::outstanding::scoreboard::Scoreboard;
    use crate::recovery::rule::Setup;

    const MSS: u64 = 1000;

    /// Sends twenty segments, 0 and 5 lost: recovery, the new ACK at 5, then three duplicates. True
    /// if these start a second recovery.
    fn second_loss_enters(ns2_newreno: bool) -> bool {
        let setup = Setup { mss: 1000, dupack_threshold: 3, limited_transmit: true, ns2_newreno };
        let mut board = Scoreboard::default();
        board.on_sent(1);
        board.on_cumulative_ack(1);
        board.on_sent(1 + 20 * MSS);
        let mut rule = (RULE.build)(&setup);
        for n in 1..=3 {
            assert_eq!(rule.on_duplicate_ack(&mut board, 0).is_loss_found, n == 3);
        }
        rule.on_retransmitted(&mut board, 1, 1 + MSS);
        board.on_cumulative_ack(1 + 5 * MSS);
        let outcome = rule.on_ack(&mut board, 5 * MSS);
        assert!(outcome.is_repaired);
        assert_eq!(outcome.may_grow, ns2_newreno);
        assert_eq!(rule.stage(), Stage::Open);
        rule.on_duplicate_ack(&mut board, 0);
        rule.on_duplicate_ack(&mut board, 0);
        rule.on_duplicate_ack(&mut board, 0).is_loss_found
    }

    #[test]
    fn a_second_loss_cuts_again_by_the_rfc_and_not_in_ns2() {
        assert!(second_loss_enters(false));
        assert!(!second_loss_enters(true));
    }
}
