//! The workloads: one file each, and one list.

pub mod bulk;
pub mod cbr;
pub mod cve;
pub mod cve_server;
pub mod evlbi;
pub mod on_off;
pub mod request_response;
pub mod telnet;
pub mod trace;

use crate::workload::WorkloadRecord;

/// Every workload.
pub const WORKLOADS: &[WorkloadRecord] = &[
    bulk::RECORD,
    telnet::RECORD,
    cbr::RECORD,
    on_off::RECORD,
    cve::RECORD,
    cve_server::RECORD,
    request_response::RECORD,
    evlbi::RECORD,
    trace::RECORD,
];
