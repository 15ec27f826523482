//! Bulk transfers over a test network.

use crate::net::{Net, Path, flow, secs};
use narrows_common::Duration;
use narrows_hosts::api::State;
use narrows_hosts::{PROFILES, RECOVERIES, VARIANTS};

#[test]
fn every_variant_fills_a_clean_path() {
    for variant in VARIANTS {
        for recovery in RECOVERIES {
            for profile in PROFILES {
                let name = format!("{}/{}/{}", variant.name, recovery.name, profile.name);
                let mut net = Net::new(Path::clean(10_000_000, Duration::from_ms(5)), 1);
                let mut config =
                    flow(1, variant.name, recovery.name, profile.name, Some(2_000_000));
                config.window_bytes = Some(40_000);
                net.open(&config);
                net.run_while(secs(60.0), |net| !net.is_complete());
                let (sent, received) =
                    (net.hosts[0].flow_report(1).unwrap(), net.hosts[1].flow_report(1).unwrap());
                assert_eq!(received.received.delivered_bytes, 2_000_000, "{name}");
                assert_eq!(sent.acked_bytes, 2_000_000, "{name}");
                assert_eq!((sent.sent.retransmits, sent.sent.timeouts), (0, 0), "{name}");
                // 2 MB with headers take 1.66 s at 10 Mb/s; slow start and the handshake add
                // little.
                let took = sent.completed_at.unwrap().as_secs_f64();
                assert!((1.6..2.0).contains(&took), "{name}: {took} s");
                assert!(received.completed_at.unwrap() < sent.completed_at.unwrap());
                // 5 ms, plus 0.8 ms per segment of queue and transmission: a window of at most 40
                // kB.
                let delay = received.one_way_delay;
                assert!(
                    delay.min >= Duration::from_ms(5) && delay.max < Duration::from_ms(45),
                    "{name}: {delay:?}"
                );
                net.run_until(secs(100.0));
                assert_eq!(net.hosts[0].flow_report(1).unwrap().state, State::Closed, "{name}");
                assert_eq!(net.hosts[1].flow_report(1).unwrap().state, State::Closed, "{name}");
            }
        }
    }
}
