//! A queue for each hash of a flow: what fair queues have in common.

use crate::flow_hash::flow_hash;
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::randomness::Randomness;
use std::cmp::Reverse;

/// A flow's queue, and what the discipline keeps of it.
#[derive(Debug)]
pub(crate) struct Flow<P, S> {
    pub fifo: Fifo<P>,
    pub state: S,
}

impl<P, S: Default> Default for Flow<P, S> {
    fn default() -> Self {
        Flow { fifo: Fifo::default(), state: S::default() }
    }
}

/// Queues of flows, by index, and what waits in all of them.
#[derive(Debug)]
pub(crate) struct FlowQueues<P, S> {
    flows: Vec<Flow<P, S>>,
    backlog: Backlog,
    seed: u64,
}

impl<P: QueuedPacket, S: Default> FlowQueues<P, S> {
    /// No queues yet. The hash is perturbed by a random number.
    pub fn new(mut randomness: Randomness) -> Self {
        FlowQueues { flows: vec![], backlog: Backlog::default(), seed: randomness.u64() }
    }

    /// The packets and bytes in all queues.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The queue of a packet's flow.
    #[inline]
    pub fn index_of(&self, packet: &P) -> u32 {
        let hash = flow_hash(packet.packet(), self.seed);
        // Multiplication maps the hash's upper half to the queues evenly.
        (((hash >> 32) * self.flows.len() as u64) >> 32) as u32
    }

    /// What the discipline keeps of a queue.
    #[inline]
    pub fn state(&mut self, index: u32) -> &mut S {
        &mut self.flows[index as usize].state
    }

    /// The same, to read.
    #[inline]
    pub fn state_of(&self, index: u32) -> &S {
        &self.flows[index as usize].state
    }

    /// What waits in a queue.
    #[inline]
    pub fn backlog_of(&self, index: u32) -> Backlog {
        self.flows[index as usize].fifo.backlog()
    }

    /// The length of the packet at a queue's head; 0 with an empty queue.
    #[inline]
    pub fn next_bytes(&self, index: u32) -> u64 {
        self.flows[index as usize].fifo.front().map_or(0, |packet| packet.label.length.get())
    }

    /// Adds a packet at a queue's tail. Returns what the discipline keeps of the queue.
    #[inline]
    pub fn push(&mut self, index: u32, packet: Queued<P>) -> &mut S {
        self.backlog = self.backlog.with(packet.label.length);
        let flow = &mut self.flows[index as usize];
        flow.fifo.push(packet);
        &mut flow.state
    }

    /// A queue. Its owner tells [`FlowQueues::has_left`] what it takes out.
    #[inline]
    pub fn get(&mut self, index: u32) -> &mut Flow<P, S> {
        &mut self.flows[index as usize]
    }

    /// A queue's backlog has become less.
    #[inline]
    pub fn has_left(&mut self, before: Backlog, after: Backlog) {
        self.backlog.packets -= before.packets - after.packets;
        self.backlog.bytes -= before.bytes - after.bytes;
    }

    /// Takes a packet out of a queue.
    #[inline]
    pub fn take(
        &mut self,
        index: u32,
        take: impl FnOnce(&mut Fifo<P>) -> Option<Queued<P>>,
    ) -> Option<Queued<P>> {
        let packet = take(&mut self.flows[index as usize].fifo)?;
        self.backlog = self.backlog.without(packet.label.length);
        Some(packet)
    }

    /// The queue with the most bytes of these; of several the one with the lowest index.
    pub fn longest(&self, among: impl Iterator<Item = u32>) -> Option<u32> {
        among.max_by_key(|&index| (self.backlog_of(index).bytes, Reverse(index)))
    }

    /// Passes every packet to `each`.
    pub fn visit(&self, each: &mut dyn FnMut(&Queued<P>)) {
        self.flows.iter().flat_map(|flow| flow.fifo.iter()).for_each(each);
    }

    /// Takes the packet that arrived first.
    pub fn take_oldest(&mut self) -> Option<Queued<P>> {
        let number = |flow: &Flow<P, S>| flow.fifo.front().map(|packet| packet.label.number);
        let arrivals =
            self.flows.iter().zip(0u32..).filter_map(|(flow, i)| Some((number(flow)?, i)));
        let (_, index) = arrivals.min()?;
        self.take(index, Fifo::pop)
    }

    /// Makes as many queues, all new and empty. Returns the packets that waited, in the order of
    /// their arrivals; `None` if there were as many queues before.
    pub fn resize(&mut self, flows: usize) -> Option<Vec<Queued<P>>> {
        if flows == self.flows.len() {
            return None;
        }
        let waiting = std::iter::from_fn(|| self.take_oldest()).collect();
        self.flows = (0..flows).map(|_| Flow::default()).collect();
        Some(waiting)
    }
}
