//! Between ingress and egress: offers packets to ports' queues and dequeues them.

use super::item::{Enqueue, Item};
use super::model::V1Model;
use super::work::{Handover, Work};
use crate::interpreter::Extent;
use crate::ir::internal;
use narrows_common::{Packet, Time};
use narrows_queueing::Arrival;

impl V1Model {
    /// Prepares a packet for the queue of a port. `None` if the port does not exist. A packet that
    /// is offered `next` may leave its state in the machine.
    // Every unicast packet takes this path; a call would cost 30 more instructions.
    #[inline(always)]
    pub(super) fn prepare_enqueue(
        &mut self,
        at: Time,
        port: u64,
        mut item: Item,
        next: bool,
    ) -> Option<Item> {
        let Some(port) = self.tm.find(port) else {
            self.statistics.no_such_port += 1;
            self.spare.discard(item);
            return None;
        };
        let priority = self.program.standard.priority.known();
        let priority = priority.map_or(0, |field| self.machine.get(field.slot));
        let frame_bytes = self.machine.get(internal::LENGTH) as u32;
        let is_idle = next && self.tm.is_idle(at, port);
        match is_idle {
            true => item.state.bridged.extent = Extent::InMachine,
            false => {
                let bridged = &mut item.state.bridged;
                self.machine.save_bridged(&self.program, Extent::Ingress, bridged);
            }
        }
        let is_duplicate = false;
        let port = port as u16;
        item.state.enqueue = Enqueue { port, priority, frame_bytes, is_idle, is_duplicate };
        Some(item)
    }

    /// Dequeues packets from a port until its serializer is busy or no packet waits.
    pub(super) fn drain(&mut self, at: Time, port: usize) {
        while let Some(dequeued) = self.tm.dequeue_idle(at, port) {
            self.egress(dequeued);
        }
        self.discard_dropped();
    }

    /// Handles all pending work of this instant.
    #[inline]
    pub(crate) fn settle(&mut self, at: Time) {
        if !self.work.is_empty() {
            self.settle_work(at);
        }
    }

    #[inline(never)]
    pub(super) fn settle_work(&mut self, at: Time) {
        while let Some(work) = self.work.pop_front() {
            match work {
                Work::Reentry(reentry) => self.ingress_again(at, reentry),
                Work::Offer(item) => self.offer(at, item),
            }
        }
    }

    /// Queues or drops a packet, and dequeues what the port can send at once.
    pub(crate) fn offer(&mut self, at: Time, item: Item) {
        let Enqueue { port, priority, frame_bytes, is_idle, is_duplicate } = item.state.enqueue;
        let (port, frame_bytes) = (port.into(), frame_bytes.into());
        if let Some(pipeline) = self.tm.elsewhere(port) {
            self.handovers.push_back(Handover { at, pipeline, tag: 0, item });
            return;
        }
        let arrival = Arrival { flow: item.state.flow, packet: item, priority, frame_bytes };
        if is_idle && self.tm.is_transparent(port) {
            let dequeued = self.tm.pass(at, port, arrival);
            return self.egress(dequeued);
        }
        self.tm.offer(at, port, arrival);
        if is_duplicate {
            self.tm.note_duplicate(at);
        }
        match self.tm.is_armed(port) {
            // The packet leaves when the serializer is free.
            true => self.discard_dropped(),
            false => self.drain(at, port),
        }
    }

    /// Discards the packets that disciplines dropped.
    #[inline]
    pub(crate) fn discard_dropped(&mut self) {
        while let Some(dropped) = self.tm.poll_dropped() {
            self.spare.discard(dropped);
        }
    }

    /// A packet arrives at a port. Ingress runs at once; the packet is queued, sent or dropped.
    pub(crate) fn handle_packet(&mut self, now: Time, port: u16, packet: Box<Packet>) {
        self.handle_timeout(now);
        self.statistics.received += 1;
        let item = self.spare.take_item(packet);
        self.ingress(now, port, item);
        self.settle(now);
    }

    /// A packet arrives from another pipeline.
    pub(crate) fn handle_handover(&mut self, now: Time, handover: Handover) {
        self.handle_timeout(now);
        self.offer(now, handover.item);
        self.settle(now);
    }

    /// Ports that become free by `now` send their next packets.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        while let Some((at, port)) = self.tm.take_due(now) {
            self.drain(at, port);
            self.settle(at);
        }
    }
}
