//! The rings from one part of a network to another: the packets that leave, in order.
//!
//! A ring is wait-free. What does not fit waits with its sender, which sends it later. A part that
//! waits for others goes on to receive, so two full rings drain.

use rtrb::chunks::ReadChunk;
use rtrb::{Consumer, Producer, RingBuffer};

use super::messages::{Arrival, Leaving, Message, Sent, Spare};

/// The most messages of a kind on their way from one part to another.
const RING: usize = 2048;

/// The sender's ends.
#[derive(Debug)]
pub(crate) struct Outbox {
    arrivals: Producer<Arrival>,
    sent: Producer<Sent>,
    spare: Producer<Spare>,
}

/// The receiver's ends.
#[derive(Debug)]
pub(crate) struct Inbox {
    arrivals: Consumer<Arrival>,
    sent: Consumer<Sent>,
    spare: Consumer<Spare>,
}

/// Rings from one part to another.
pub(crate) fn rings() -> (Outbox, Inbox) {
    let (to_arrivals, arrivals) = RingBuffer::new(RING);
    let (to_sent, sent) = RingBuffer::new(RING);
    let (to_spare, spare) = RingBuffer::new(RING);
    let outbox = Outbox { arrivals: to_arrivals, sent: to_sent, spare: to_spare };
    (outbox, Inbox { arrivals, sent, spare })
}

impl Outbox {
    /// Sends what fits. Returns whether nothing is left.
    pub fn send(&mut self, leaving: &mut Leaving) -> bool {
        let Leaving { arrivals, sent, spare } = leaving;
        // An empty packet that does not fit keeps nobody waiting.
        send(&mut self.spare, spare);
        send(&mut self.arrivals, arrivals) & send(&mut self.sent, sent)
    }
}

/// Sends messages. Keeps those that do not fit, unless the receiver has ended. Returns whether none
/// is left.
#[inline]
fn send<T>(ring: &mut Producer<T>, messages: &mut Vec<T>) -> bool {
    if messages.is_empty() {
        return true;
    }
    // How far the receiver is stands in a cache line that it writes: read only if there is need.
    let known = ring.cached_slots();
    let free = if known < messages.len() { ring.slots() } else { known };
    let fitting = messages.len().min(free);
    if let Ok(chunk) = ring.write_chunk_uninit(fitting) {
        chunk.fill_from_iter(messages.drain(..fitting));
    }
    if !messages.is_empty() && ring.is_abandoned() {
        messages.clear();
    }
    messages.is_empty()
}

impl Inbox {
    /// Packets in flight that are there.
    pub fn arrivals(&mut self) -> Option<ReadChunk<'_, Arrival>> {
        receive(&mut self.arrivals)
    }

    /// Packets of hosts that are there.
    pub fn sent(&mut self) -> Option<ReadChunk<'_, Sent>> {
        receive(&mut self.sent)
    }

    /// Empty packets that are there.
    pub fn spare(&mut self) -> Option<ReadChunk<'_, Spare>> {
        receive(&mut self.spare)
    }
}

/// What is there, if anything. Asks for the memory of all of it.
#[inline]
fn receive<T: Message>(ring: &mut Consumer<T>) -> Option<ReadChunk<'_, T>> {
    let there = ring.slots();
    let chunk = ring.read_chunk(there).ok().filter(|chunk| !chunk.is_empty())?;
    let (first, second) = chunk.as_slices();
    first.iter().chain(second).for_each(Message::prefetch);
    Some(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use narrows_common::Time;

    /// Packets of the hosts with these numbers.
    fn leaving(hosts: std::ops::Range<u32>) -> Leaving {
        let sent = hosts.map(|host| Sent { key: (Time::ZERO, 0), host, packet: Box::default() });
        Leaving { sent: sent.collect(), ..Leaving::default() }
    }

    fn received(inbox: &mut Inbox) -> Vec<u32> {
        inbox.sent().map_or(vec![], |chunk| chunk.into_iter().map(|sent| sent.host).collect())
    }

    #[test]
    fn what_does_not_fit_is_sent_later_in_order() {
        let (mut outbox, mut inbox) = rings();
        let count = 2 * RING as u32 + 5;
        let mut leaving = leaving(0..count);
        let mut hosts = vec![];
        for left in [RING + 5, 5, 0] {
            assert_eq!(outbox.send(&mut leaving), left == 0);
            assert_eq!(leaving.sent.len(), left);
            hosts.extend(received(&mut inbox));
        }
        assert_eq!(hosts, (0..count).collect::<Vec<_>>());
        assert!(inbox.sent().is_none());
    }

    #[test]
    fn nothing_waits_for_a_receiver_that_has_ended() {
        let (mut outbox, inbox) = rings();
        drop(inbox);
        let mut leaving = leaving(0..RING as u32 + 1);
        assert!(outbox.send(&mut leaving));
        assert!(leaving.sent.is_empty());
    }
}
