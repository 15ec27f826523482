//! A core of the library behind [`PortCore`].

use crate::api::{Api, Dequeued, Opaque, Row, Settings};
use narrows_common::{Bytes, Duration, LengthBasis, PS_PER_S, Time};
use narrows_queueing::{
    Backlog, CoreDequeued, CoreReasons, CoreRow, CoreSettings, DropReason, Fate, PortCore,
    QueueEvent, QueueLimit, core_reasons,
};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::Arc;

/// Above the highest rate (`RATE_W` in `fpga/rtl/narrows_pkg.sv`).
const RATES: u64 = 1 << 40;
/// Packets for which the core has room (`DEPTH_LOG2` in `fpga/model/decisions_top.sv`).
const ROOM_PACKETS: u64 = 1 << 20;
/// The bytes of the shortest IPv4 packet with a transport header; UDP's (RFC 768).
const SHORTEST_BYTES: u64 = 28;
/// Picoseconds of a byte at 1 bit/s.
const BYTE_PS: u128 = 8 * PS_PER_S as u128;
/// Rows that are taken at a time.
const MOST_ROWS: usize = 4;

/// One core.
pub(crate) struct VerilatedCore {
    api: Arc<Api>,
    core: *mut Opaque,
    reasons: CoreReasons,
    has_codel: bool,
    rows: VecDeque<CoreRow>,
}

// SAFETY: a core has a context of its own and no thread's state; it is used through `&mut`, and
// `due`, which takes `&`, only reads it.
unsafe impl Send for VerilatedCore {}

impl std::fmt::Debug for VerilatedCore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerilatedCore").finish_non_exhaustive()
    }
}

impl Drop for VerilatedCore {
    fn drop(&mut self) {
        // SAFETY: the core is from `new` and freed once.
        unsafe { (self.api.free)(self.core) }
    }
}

impl VerilatedCore {
    pub(crate) fn new(api: Arc<Api>) -> Self {
        // SAFETY: it takes nothing; C++ ends the process where there is no memory.
        let core = unsafe { (api.new)() };
        let (reasons, rows) = (core_reasons(), VecDeque::new());
        VerilatedCore { api, core, reasons, has_codel: false, rows }
    }

    /// The result of a call. Panics with the library's words if it failed.
    fn checked(&self, result: c_int) -> bool {
        assert!(result >= 0, "the core: {}", self.api.error(self.core));
        result > 0
    }

    /// Takes the rows that a call left.
    fn keep_rows(&mut self) {
        let mut rows = [Row::default(); MOST_ROWS];
        loop {
            // SAFETY: the core is alive, and the library writes up to `MOST_ROWS` rows.
            let count = unsafe { (self.api.rows)(self.core, rows.as_mut_ptr(), MOST_ROWS as u32) };
            let rows = &rows[..count as usize];
            self.rows.extend(rows.iter().map(|row| core_row(row, &self.reasons, self.has_codel)));
            if rows.len() < MOST_ROWS {
                return;
            }
        }
    }
}

/// A row in the queue's words.
fn core_row(row: &Row, reasons: &CoreReasons, has_codel: bool) -> CoreRow {
    let event = match (row.kind, row.reason) {
        (0, _) => QueueEvent::Enqueue,
        (1, _) => QueueEvent::Dequeue,
        (2, 0) => QueueEvent::Drop(DropReason::QUEUE_FULL),
        (2, 1) => QueueEvent::Drop(DropReason::EGRESS_PROGRAM),
        (2, 4) => QueueEvent::Drop(reasons.codel_drop),
        (3, 2) if has_codel => QueueEvent::Mark(reasons.codel_above),
        (3, reason @ 0..=2) => QueueEvent::Mark(reasons.thresholds[usize::from(reason)]),
        (3, 3) => QueueEvent::Mark(reasons.codel_mark),
        other => panic!("the core: a row of kind and reason {other:?}"),
    };
    let bytes = Bytes::new(row.bytes);
    CoreRow {
        number: row.number,
        at: Time::from_ps(row.at_ps),
        event,
        length: Bytes::new(u64::from(row.counted)),
        depth: Backlog { packets: u64::from(row.packets), bytes },
        sojourn: Duration::from_ps(row.sojourn_ps),
    }
}

/// The packets that a limit admits, at the most.
fn packets_within(settings: &CoreSettings) -> u128 {
    let of_bytes = |bytes: u128| bytes / u128::from(SHORTEST_BYTES);
    match settings.limit {
        QueueLimit::Packets(packets) => u128::from(packets),
        QueueLimit::Bytes(bytes) => of_bytes(u128::from(bytes)),
        QueueLimit::TimePs(ps) => {
            of_bytes(u128::from(ps) * u128::from(settings.rate.as_bps()) / BYTE_PS)
        }
    }
}

impl PortCore for VerilatedCore {
    fn set(&mut self, at: Time, settings: &CoreSettings) -> Result<(), String> {
        let rate_bps = settings.rate.as_bps();
        if rate_bps >= RATES {
            return Err(format!("rate {rate_bps}: a core has up to {} bit/s", RATES - 1));
        }
        if packets_within(settings) > u128::from(ROOM_PACKETS) {
            return Err(format!("queue: a core has room for {ROOM_PACKETS} packets"));
        }
        let (limit_kind, limit) = match settings.limit {
            QueueLimit::Packets(packets) => (0, packets),
            QueueLimit::Bytes(bytes) => (1, bytes),
            QueueLimit::TimePs(ps) => (2, ps),
        };
        let [packets, bytes, time] = settings.discipline.thresholds;
        let codel = settings.discipline.codel;
        self.has_codel = codel.is_some();
        let enabled = |bit: u8, threshold: Option<u64>| u8::from(threshold.is_some()) << bit;
        let settings = Settings {
            rate_bps,
            limit,
            ecn_packets: packets.unwrap_or(0),
            ecn_bytes: bytes.unwrap_or(0),
            ecn_time_ps: time.unwrap_or(0),
            basis: match settings.counts {
                LengthBasis::Ip => 0,
                LengthBasis::Frame => 1,
                LengthBasis::Wire => 2,
            },
            limit_kind,
            ecn_enable: enabled(0, packets) | enabled(1, bytes) | enabled(2, time),
            codel_target_ps: codel.map_or(0, |codel| codel.target.as_ps()),
            codel_interval_ps: codel.map_or(0, |codel| codel.interval.as_ps()),
            codel_mtu: codel.map_or(0, |codel| codel.mtu.get() as u32),
            codel_enable: u8::from(codel.is_some()),
            codel_marks: u8::from(codel.is_some_and(|codel| codel.is_marking)),
            ..Settings::default()
        };
        // SAFETY: the core is alive, and the settings are for the call.
        let done = unsafe { (self.api.set)(self.core, at.as_ps(), &raw const settings) };
        self.checked(done);
        Ok(())
    }

    fn offer(&mut self, at: Time, frame_bytes: u64, takes_marks: bool) -> bool {
        let (frame, is_capable) = (frame_bytes as u32, c_int::from(takes_marks));
        // SAFETY: the core is alive.
        let done = unsafe { (self.api.offer)(self.core, at.as_ps(), frame, is_capable) };
        let is_queued = self.checked(done);
        self.keep_rows();
        is_queued
    }

    fn due(&self) -> Option<Time> {
        let mut at_ps = 0;
        // SAFETY: the core is alive, and the time is for the call.
        let done = unsafe { (self.api.due)(self.core, &raw mut at_ps) };
        self.checked(done).then_some(Time::from_ps(at_ps))
    }

    fn dequeue(&mut self, at: Time) -> Option<CoreDequeued> {
        let mut found = Dequeued::default();
        // SAFETY: the core is alive, and the packet is for the call.
        let done = unsafe { (self.api.dequeue)(self.core, at.as_ps(), &raw mut found) };
        if !self.checked(done) {
            return None;
        }
        self.keep_rows();
        let (at, is_marked) = (Time::from_ps(found.at_ps), found.is_marked != 0);
        Some(CoreDequeued { number: found.number, at, is_marked })
    }

    fn finish(&mut self, fate: Fate, frame_bytes: u64) -> (Time, Time) {
        let fate = match fate {
            Fate::Sent => 0,
            Fate::Dropped => 1,
            Fate::Diverted => 2,
        };
        let (mut start, mut end) = (0, 0);
        let (starts, ends) = (&raw mut start, &raw mut end);
        // SAFETY: the core is alive, and the times are for the call.
        let done = unsafe { (self.api.finish)(self.core, fate, frame_bytes as u32, starts, ends) };
        self.checked(done);
        self.keep_rows();
        (Time::from_ps(start), Time::from_ps(end))
    }

    fn poll_row(&mut self) -> Option<CoreRow> {
        self.rows.pop_front()
    }
}
