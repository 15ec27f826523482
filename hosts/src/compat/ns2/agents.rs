//! ns-2's agents by name: the settings that each source and sink stands for.
//!
//! Source: ns-2.35 (tcp.cc and related files, tcl/lib/ns-default.tcl). A source selects a
//! congestion control, a loss recovery, and sometimes a counting rule; ns-2's timers and windows
//! are in the profiles (`ns2`, `ns2-2004`). A sink selects when to acknowledge, and with which
//! options.

use crate::api::{Cut, Growth, InitialWindow, Profile};
use schemars::JsonSchema;
use serde::Serialize;

/// An ns-2 source.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AgentRecord")]
pub struct Agent {
    /// ns-2's name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// A one-line description.
    pub title: &'static str,
    /// Congestion control.
    pub variant: &'static str,
    /// Loss recovery.
    pub recovery: &'static str,
    /// The variant's parameters that differ from its defaults.
    pub parameters: &'static [(&'static str, f64)],
    /// Changes the profile's settings that differ.
    #[serde(skip)]
    pub adapt: fn(&mut Profile),
    /// Payload bytes of a full segment, if they differ from the profile's.
    pub segment_bytes: Option<u32>,
    /// It reports its window to the sink, and echoes marks on ACKs (`ack_control.rs`).
    pub reports_window: bool,
    /// The sink used in comparisons, which exercises its features.
    pub sink: &'static str,
}

/// An ns-2 sink.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SinkRecord")]
pub struct Sink {
    /// ns-2's name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// A one-line description.
    pub title: &'static str,
    /// Sends selective acknowledgments.
    pub sack: bool,
    /// Acknowledges every second segment.
    pub delayed_ack: bool,
    /// Reduces its ACKs when they are marked (`ack_control.rs`).
    pub ack_control: bool,
}

const fn agent(
    name: &'static str,
    aliases: &'static [&'static str],
    title: &'static str,
    recovery: &'static str,
) -> Agent {
    Agent {
        name,
        aliases,
        title,
        variant: "reno",
        recovery,
        parameters: &[],
        adapt: |_| (),
        reports_window: false,
        segment_bytes: None,
        sink: "Agent/TCPSink",
    }
}

/// A two-way TCP: segments of 536 bytes, no limited transmit, and cuts to whole segments.
const fn full(
    name: &'static str,
    aliases: &'static [&'static str],
    title: &'static str,
    recovery: &'static str,
) -> Agent {
    Agent {
        segment_bytes: Some(536),
        adapt: |profile| {
            profile.limited_transmit = false;
            profile.cut = Cut::WholeCwndOrOffered;
        },
        ..agent(name, aliases, title, recovery)
    }
}

const SACK_SINK: &str = "Agent/TCPSink/Sack1";

/// All sources.
pub const AGENTS: &[Agent] = &[
    agent("Agent/TCP", &["TCP", "Tahoe"], "Tahoe", "tahoe"),
    agent("Agent/TCP/Reno", &["TCP/Reno", "Reno"], "Reno", "reno"),
    agent("Agent/TCP/Newreno", &["TCP/Newreno", "Newreno"], "NewReno, impatient", "newreno"),
    Agent {
        sink: SACK_SINK,
        ..agent("Agent/TCP/Sack1", &["TCP/Sack1", "Sack1"], "SACK with a counted pipe", "sack1")
    },
    Agent {
        sink: SACK_SINK,
        ..agent("Agent/TCP/Fack", &["TCP/Fack", "Fack"], "forward acknowledgment", "fack")
    },
    Agent {
        sink: SACK_SINK,
        adapt: |profile| {
            profile.cut = Cut::WholeCwnd;
            // Its first segment leaves with the SYN, so the ACK a round trip later covers two.
            profile.initial_window = InitialWindow::Segments(4);
        },
        ..agent(
            "Agent/TCP/Linux",
            &["TCP/Linux", "Linux"],
            "Reno with the recovery of Linux 2.6.22",
            "linux-ns2",
        )
    },
    Agent {
        variant: "vegas-ns2",
        ..agent("Agent/TCP/Vegas", &["TCP/Vegas", "Vegas"], "Vegas", "vegas")
    },
    Agent {
        variant: "vegas-rbp",
        ..agent(
            "Agent/TCP/Vegas/RBP",
            &["TCP/Vegas/RBP", "Vegas/RBP", "VegasRBP"],
            "Vegas with pacing after idle times",
            "vegas",
        )
    },
    Agent {
        variant: "reno-rbp",
        ..agent(
            "Agent/TCP/Reno/RBP",
            &["TCP/Reno/RBP", "Reno/RBP", "RenoRBP"],
            "Reno with pacing after idle times",
            "reno",
        )
    },
    full("Agent/TCP/FullTcp", &["TCP/FullTcp", "FullTcp"], "Reno, both ways", "full-reno"),
    full(
        "Agent/TCP/FullTcp/Tahoe",
        &["TCP/FullTcp/Tahoe", "FullTcp/Tahoe"],
        "Tahoe, both ways",
        "tahoe",
    ),
    full(
        "Agent/TCP/FullTcp/Newreno",
        &["TCP/FullTcp/Newreno", "FullTcp/Newreno"],
        "NewReno, both ways",
        "full-newreno",
    ),
    Agent {
        sink: SACK_SINK,
        adapt: |profile| profile.limited_transmit = false,
        ..full(
            "Agent/TCP/FullTcp/Sack",
            &["TCP/FullTcp/Sack", "FullTcp/Sack"],
            "SACK with a counted pipe, both ways",
            "full-sack",
        )
    },
    Agent {
        adapt: |profile| profile.growth = Growth::EachSegment,
        reports_window: true,
        ..agent("Agent/TCP/Asym", &["TCP/Asym", "Asym"], "Tahoe that counts segments", "tahoe")
    },
    Agent {
        adapt: |profile| profile.growth = Growth::EachSegment,
        reports_window: true,
        ..agent(
            "Agent/TCP/Reno/Asym",
            &["TCP/Reno/Asym", "Reno/Asym", "RenoAsym"],
            "Reno that counts segments",
            "reno",
        )
    },
    Agent {
        adapt: |profile| profile.growth = Growth::EachSegment,
        reports_window: true,
        ..agent(
            "Agent/TCP/Newreno/Asym",
            &["TCP/Newreno/Asym", "Newreno/Asym", "NewrenoAsym"],
            "NewReno that counts segments",
            "newreno",
        )
    },
];

/// All sinks.
pub const SINKS: &[Sink] = &[
    Sink {
        name: "Agent/TCPSink",
        aliases: &["TCPSink"],
        title: "an ACK for each segment",
        sack: false,
        delayed_ack: false,
        ack_control: false,
    },
    Sink {
        name: "Agent/TCPSink/DelAck",
        aliases: &["TCPSink/DelAck", "DelAck"],
        title: "an ACK for every second segment, or after the profile's delay (100 ms)",
        sack: false,
        delayed_ack: true,
        ack_control: false,
    },
    Sink {
        name: SACK_SINK,
        aliases: &["TCPSink/Sack1"],
        title: "an ACK for each segment, with SACK",
        sack: true,
        delayed_ack: false,
        ack_control: false,
    },
    Sink {
        name: "Agent/TCPSink/Sack1/DelAck",
        aliases: &["TCPSink/Sack1/DelAck", "Sack1/DelAck"],
        title: "an ACK for every second segment, with SACK",
        sack: true,
        delayed_ack: true,
        ack_control: false,
    },
    Sink {
        name: "Agent/TCPSink/Asym",
        aliases: &["TCPSink/Asym"],
        title: "as few ACKs as the return path's congestion marks require",
        sack: false,
        delayed_ack: true,
        ack_control: true,
    },
];

/// The source of this name; `None` if ns-2 has no such source.
pub fn agent_by_name(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name || agent.aliases.contains(&name))
}

/// The sink of this name; `None` if ns-2 has no such sink.
pub fn sink_by_name(name: &str) -> Option<&'static Sink> {
    SINKS.iter().find(|sink| sink.name == name || sink.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RECOVERIES, VARIANTS};

    #[test]
    fn what_an_agent_stands_for_exists_and_no_name_means_two_things() {
        let mut names: Vec<&str> = VARIANTS.iter().map(|variant| variant.name).collect();
        for agent in AGENTS {
            assert!(names.contains(&agent.variant), "{agent:?}");
            assert!(RECOVERIES.iter().any(|rule| rule.name == agent.recovery), "{agent:?}");
            assert!(sink_by_name(agent.sink).is_some(), "{agent:?}");
        }
        let before = names.len();
        names.extend(AGENTS.iter().flat_map(|agent| agent.aliases.iter().copied()));
        names.extend(AGENTS.iter().map(|agent| agent.name));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(before < all);
    }
}
