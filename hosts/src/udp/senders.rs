//! The senders of datagrams: one record each, and one list.

use crate::api::Class;
use crate::udp::record::Record;
use crate::udp::tfrc::TFRC;

/// Every sender of datagrams.
pub const SENDERS: &[Record] = &[UDP, TFRC];

/// Sends each message when it is written.
const UDP: Record = Record {
    name: "udp",
    title: "UDP: datagrams leave as the application writes them",
    reference: "RFC 768; ns-2 Agent/UDP",
    class: Class::Uncontrolled,
    needs: &[],
    parameters: &[],
    not_implemented: &[],
    header_bytes: 0,
    needs_pace: true,
};

/// The sender of this name; `None` if no sender of datagrams has it.
pub fn sender_by_name(name: &str) -> Option<&'static Record> {
    SENDERS.iter().find(|record| record.name == name)
}
