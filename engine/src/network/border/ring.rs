//! The ring from one part of a network to another: the packets that leave, in order.
//!
//! A ring is wait-free. What does not fit waits with its sender, which sends it later. A part that
//! waits for others goes on to receive, so two full rings drain.

use narrows_common::prefetch::{Address, prefetch};
use narrows_common::{Packet, Time};
use rtrb::chunks::ReadChunk;
use rtrb::{Consumer, Producer, RingBuffer};

use super::order::Key;
use crate::network::in_flight::PARSED_BYTES;

/// The most messages on their way from one part to another.
const RING: usize = 2048;

/// What a part sends to another one.
#[derive(Debug)]
pub(crate) enum Message {
    /// A packet in flight, which arrives by a link direction `at` this instant, and where its bytes
    /// are.
    InFlight { at: Time, direction: u32, packet: Box<Packet>, bytes: Address },
    /// A packet that a host sent by an event, and whose access link is in the other part.
    Sent { key: Key, host: u32, packet: Box<Packet> },
    /// An empty packet, for one that came from the other part.
    Spare(Box<Packet>),
}

impl Message {
    /// Asks for the memory that its receiver reads first.
    fn prefetch(&self) {
        match self {
            Message::InFlight { packet, bytes, .. } => {
                prefetch(&**packet);
                bytes.prefetch(PARSED_BYTES);
            }
            Message::Sent { packet, .. } => prefetch(&**packet),
            Message::Spare(_) => {}
        }
    }
}

/// The two ends of a ring.
pub(crate) fn ring() -> (Outbox, Inbox) {
    let (producer, consumer) = RingBuffer::new(RING);
    (Outbox(producer), Inbox(consumer))
}

/// The sender's end.
#[derive(Debug)]
pub(crate) struct Outbox(Producer<Message>);

impl Outbox {
    /// Sends messages; keeps those that do not fit, unless the receiver has ended.
    pub fn send(&mut self, messages: &mut Vec<Message>) {
        if messages.is_empty() {
            return;
        }
        let fitting = messages.len().min(self.0.slots());
        if let Ok(chunk) = self.0.write_chunk_uninit(fitting) {
            chunk.fill_from_iter(messages.drain(..fitting));
        }
        if !messages.is_empty() && self.0.is_abandoned() {
            messages.clear();
        }
    }
}

/// The receiver's end.
#[derive(Debug)]
pub(crate) struct Inbox(Consumer<Message>);

impl Inbox {
    /// What is there, if anything. Asks for the memory of all of it.
    pub fn receive(&mut self) -> Option<ReadChunk<'_, Message>> {
        let there = self.0.slots();
        let chunk = self.0.read_chunk(there).ok().filter(|chunk| !chunk.is_empty())?;
        let (first, second) = chunk.as_slices();
        first.iter().chain(second).for_each(Message::prefetch);
        Some(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_messages_fit_in_a_cache_line() {
        assert_eq!(size_of::<Message>(), 32);
    }

    /// A message with a number.
    fn message(number: u32) -> Message {
        Message::Sent { key: (Time::ZERO, 0), host: number, packet: Box::default() }
    }

    fn received(inbox: &mut Inbox) -> Vec<u32> {
        let number = |message| match message {
            Message::Sent { host, .. } => host,
            other => panic!("{other:?}"),
        };
        inbox.receive().map_or(vec![], |chunk| chunk.into_iter().map(number).collect())
    }

    #[test]
    fn what_does_not_fit_is_sent_later_in_order() {
        let (mut outbox, mut inbox) = ring();
        let count = 2 * RING as u32 + 5;
        let mut messages = (0..count).map(message).collect();
        let mut numbers = vec![];
        for left in [RING + 5, 5, 0] {
            outbox.send(&mut messages);
            assert_eq!(messages.len(), left);
            numbers.extend(received(&mut inbox));
        }
        assert_eq!(numbers, (0..count).collect::<Vec<_>>());
        assert!(inbox.receive().is_none());
    }

    #[test]
    fn nothing_waits_for_a_receiver_that_has_ended() {
        let (mut outbox, inbox) = ring();
        drop(inbox);
        let mut messages = (0..=RING as u32).map(message).collect();
        outbox.send(&mut messages);
        assert!(messages.is_empty());
    }
}
