//! The sending half, which creates its [`Sender`] when the application first writes or closes.
//!
//! An end that only receives sends nothing but ACKs. Of a [`Sender`]'s state it needs only the
//! peer's window and the handshake's round trip. A sender created later has the same state as one
//! created at the start.

use crate::config::Settings;
use crate::report::{DELAY_PRECISION_BITS, SenderCounters};
use crate::rtt::RttEstimator;
use crate::tcp::sender::Sender;
use narrows_common::histogram::{Histogram, Summary};
use narrows_common::{Duration, Time};

/// The result of the handshake, from which a sender starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    /// Both ends agreed on SACK.
    pub has_sack: bool,
    /// The SYN or its answer was lost.
    pub has_lost_syn: bool,
}

/// The state before the first write.
#[derive(Debug)]
#[repr(C)]
pub(super) struct UnusedSender {
    /// The handshake's round trip, if known.
    handshake_rtt: Option<Duration>,
    window_edge: u64,
    max_window_bytes: u64,
    mss: u32,
    is_established: bool,
    /// There was nothing to send when something could have been sent.
    has_idled: bool,
    rtt: RttEstimator,
    /// The offset of ns-2's clock ticks.
    boot_phase: Duration,
}

impl UnusedSender {
    /// The sender, as if created at the start.
    fn sender(&self, settings: &Settings, handshake: Handshake) -> Sender {
        let mut sender = Sender::new(settings, self.boot_phase);
        sender.rtt = self.rtt.clone();
        sender.mss = self.mss;
        if self.is_established {
            sender.board.on_cumulative_ack(1);
            sender.board.sent.on_cumulative_ack(1, |_, _| ());
            self.handshake_rtt.into_iter().for_each(|rtt| sender.rtt_histogram.add(rtt));
            sender.establish(settings, self.mss, handshake.has_sack, handshake.has_lost_syn);
        }
        sender.window_edge = self.window_edge;
        sender.max_window_bytes = self.max_window_bytes;
        if self.has_idled {
            sender.on_app_limited();
        }
        sender
    }
}

/// The sending half of a connection.
#[derive(Debug)]
pub(super) enum LazySender {
    Unused(UnusedSender),
    Active(Box<Sender>),
}

impl LazySender {
    /// The state before the handshake. `boot_phase` is the offset of ns-2's clock ticks.
    pub(super) fn new(settings: &Settings, boot_phase: Duration) -> Self {
        LazySender::Unused(UnusedSender {
            rtt: RttEstimator::new(&settings.profile, boot_phase),
            boot_phase,
            handshake_rtt: None,
            is_established: false,
            has_idled: false,
            mss: settings.segment_bytes,
            window_edge: 0,
            max_window_bytes: 0,
        })
    }

    /// The sender, to look at it; `None` if nothing has been written.
    pub(super) fn get(&self) -> Option<&Sender> {
        match self {
            LazySender::Unused(_) => None,
            LazySender::Active(sender) => Some(sender),
        }
    }

    /// The sender; `None` if nothing has been written.
    pub(super) fn active(&mut self) -> Option<&mut Sender> {
        match self {
            LazySender::Unused(_) => None,
            LazySender::Active(sender) => Some(sender),
        }
    }

    /// The sender; created if it does not exist.
    pub(super) fn activate(&mut self, settings: &Settings, handshake: Handshake) -> &mut Sender {
        if let LazySender::Unused(unused) = self {
            *self = LazySender::Active(Box::new(unused.sender(settings, handshake)));
        }
        self.active().expect("it has just been made")
    }

    /// Applies `inspect` to the sender, or to the one that would be created now.
    pub(super) fn inspect<T>(
        &self,
        settings: &Settings,
        handshake: Handshake,
        inspect: impl FnOnce(&Sender) -> T,
    ) -> T {
        match self {
            LazySender::Unused(unused) => inspect(&unused.sender(settings, handshake)),
            LazySender::Active(sender) => inspect(sender),
        }
    }

    /// The SYN was acknowledged `rtt` after it left; `None` if that is ambiguous. The segment size
    /// and the peer's options are known.
    pub(super) fn establish(
        &mut self,
        now: Time,
        rtt: Option<Duration>,
        settings: &Settings,
        Handshake { has_sack, has_lost_syn }: Handshake,
    ) {
        match self {
            LazySender::Unused(unused) => {
                unused.is_established = true;
                unused.handshake_rtt = rtt;
                rtt.into_iter().for_each(|rtt| unused.rtt.on_sample(now, rtt));
            }
            LazySender::Active(sender) => {
                sender.on_syn_acked(now, rtt);
                sender.establish(settings, sender.mss, has_sack, has_lost_syn);
            }
        }
    }

    /// Something may be sent; returns whether there is a sender.
    pub(super) fn may_send(&mut self) -> bool {
        if let LazySender::Unused(unused) = self {
            unused.has_idled = true;
        }
        matches!(self, LazySender::Active(_))
    }

    /// The first unacknowledged position.
    pub(super) fn una(&self) -> u64 {
        match self {
            LazySender::Unused(unused) => unused.is_established.into(),
            LazySender::Active(sender) => sender.board.una(),
        }
    }

    /// The first unsent position.
    pub(super) fn nxt(&self) -> u64 {
        match self {
            LazySender::Unused(_) => 1,
            LazySender::Active(sender) => sender.board.nxt(),
        }
    }

    /// Bytes sent but not acknowledged.
    pub(super) fn flight_bytes(&self) -> u64 {
        self.nxt() - self.una()
    }

    /// The position after the last byte written.
    pub(super) fn end(&self) -> u64 {
        match self {
            LazySender::Unused(_) => 1,
            LazySender::Active(sender) => sender.buffer.end(),
        }
    }

    /// The congestion window; 0 without a sender.
    pub(super) fn cwnd_bytes(&self) -> u64 {
        match self {
            LazySender::Unused(_) => 0,
            LazySender::Active(sender) => sender.cwnd_bytes(),
        }
    }

    /// Application bytes acknowledged in sequence.
    pub(super) fn acked_bytes(&self) -> u64 {
        match self {
            LazySender::Unused(_) => 0,
            LazySender::Active(sender) => sender.acked_bytes(),
        }
    }

    /// Payload bytes of a full segment.
    pub(super) fn mss(&self) -> u32 {
        match self {
            LazySender::Unused(unused) => unused.mss,
            LazySender::Active(sender) => sender.mss,
        }
    }

    pub(super) fn set_mss(&mut self, mss: u32) {
        match self {
            LazySender::Unused(unused) => unused.mss = mss,
            LazySender::Active(sender) => sender.mss = mss,
        }
    }

    /// The first position outside the peer's window.
    pub(super) fn window_edge(&self) -> u64 {
        match self {
            LazySender::Unused(unused) => unused.window_edge,
            LazySender::Active(sender) => sender.window_edge,
        }
    }

    /// The first position outside the peer's window, and the largest window that the peer has
    /// offered.
    pub(super) fn window(&mut self) -> (&mut u64, &mut u64) {
        match self {
            LazySender::Unused(unused) => (&mut unused.window_edge, &mut unused.max_window_bytes),
            LazySender::Active(sender) => (&mut sender.window_edge, &mut sender.max_window_bytes),
        }
    }

    fn rtt(&self) -> &RttEstimator {
        match self {
            LazySender::Unused(unused) => &unused.rtt,
            LazySender::Active(sender) => &sender.rtt,
        }
    }

    /// The retransmission time-out.
    pub(super) fn rto(&self) -> Duration {
        self.rtt().rto()
    }

    /// The SYN's time-out expired.
    pub(super) fn on_syn_timeout(&mut self) {
        match self {
            LazySender::Unused(unused) => unused.rtt.on_timeout(),
            LazySender::Active(sender) => sender.rtt.on_timeout(),
        }
    }

    /// When recovery must be called.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match self {
            LazySender::Unused(_) => None,
            LazySender::Active(sender) => sender.poll_timeout(),
        }
    }

    pub(super) fn counters(&self) -> SenderCounters {
        match self {
            LazySender::Unused(_) => SenderCounters::default(),
            LazySender::Active(sender) => sender.counters,
        }
    }

    /// Round-trip samples.
    pub(super) fn rtt_summary(&self) -> Summary {
        match self {
            LazySender::Unused(unused) => {
                let mut histogram = Histogram::new(DELAY_PRECISION_BITS);
                unused.handshake_rtt.into_iter().for_each(|rtt| histogram.add(rtt));
                histogram.summary()
            }
            LazySender::Active(sender) => sender.rtt_histogram.summary(),
        }
    }
}
