//! Checks the collector against reports that bmv2 produced with the same program.

use core::net::SocketAddr;
use narrows_engine::Report;
use serde_json::Value;

fn recording() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../switch/tests/golden/bmv2.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn octets(end: SocketAddr) -> Vec<u8> {
    match end {
        SocketAddr::V4(end) => end.ip().octets().to_vec(),
        SocketAddr::V6(end) => end.ip().octets().to_vec(),
    }
}

/// Every packet that bmv2 sent from port 2 has a report, in order: `every` is 1 there.
#[test]
fn reports_of_bmv2_describe_its_packets() {
    let recording = recording();
    let received = |port: &str| recording["received"][port].as_array().unwrap().iter().map(bytes);
    let reports: Vec<Report> =
        received("3").map(|packet| Report::parse(&packet).unwrap()).collect();
    assert!(reports.iter().enumerate().all(|(at, report)| report.sequence as usize == at));
    assert!(reports.iter().all(|report| report.node == 9));

    let mut of_port_2 = reports.iter().filter(|report| report.egress_port == 2);
    for packet in received("2") {
        let report = of_port_2.next().expect("a report for each packet");
        let ports = 14 + 4 * usize::from(packet[14] & 0xF);
        let u16_at = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        assert_eq!(octets(report.source), packet[26..30]);
        assert_eq!(octets(report.destination), packet[30..34]);
        assert_eq!(report.ip_length_bytes, u16_at(16));
        let first_fragment = u16_at(20) & 0x1FFF == 0;
        if first_fragment && matches!(packet[23], 6 | 17) && ports == 34 {
            let ends = (report.source.port(), report.destination.port());
            assert_eq!(ends, (u16_at(34), u16_at(36)));
        }
        if first_fragment && packet[23] == 6 {
            let sequence = &packet[ports + 4..ports + 8];
            assert_eq!(report.tcp_sequence.to_be_bytes(), sequence);
        }
        assert_eq!(usize::from(report.frame_length_bytes), packet.len());
    }
    assert!(of_port_2.next().is_none());
    assert!(reports.iter().any(|report| report.flow == 77), "an entry names the flow");
    assert!(reports.iter().any(|report| report.flow >> 31 == 1), "the rest is hashed");
}
