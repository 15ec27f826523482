//! The rows of all parts of a network, in the order of one thread.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;

use narrows_common::Time;

use crate::error::EngineError;
use crate::network::border::held_rows::Batch;
use crate::network::{Network, Progress};

/// What a part's thread says to the calling thread.
pub(super) struct Message {
    pub part: usize,
    /// All rows before it have been sent.
    pub reached: Time,
    pub progress: Progress,
    pub batches: Vec<Batch>,
    pub failed: Option<EngineError>,
}

/// What the calling thread knows of the parts.
pub(super) struct Collector<'a> {
    network: &'a mut Network,
    /// By part: rows that wait for those of other parts.
    batches: Vec<VecDeque<Batch>>,
    reached: Vec<Time>,
    progress: Vec<Progress>,
}

impl<'a> Collector<'a> {
    pub fn new(network: &'a mut Network, parts: usize) -> Self {
        Collector {
            network,
            batches: (0..parts).map(|_| VecDeque::new()).collect(),
            reached: vec![Time::ZERO; parts],
            progress: vec![Progress::default(); parts],
        }
    }

    /// Records the rows of all parts until each has ended.
    pub fn record(
        &mut self,
        told: &Receiver<Message>,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(), EngineError> {
        for message in told {
            if let Some(error) = message.failed {
                return Err(error);
            }
            self.batches[message.part].extend(message.batches);
            self.reached[message.part] = message.reached;
            self.progress[message.part] = message.progress;
            while let Some(batches) = self.next_collection() {
                self.network.record(batches)?;
            }
            if !progress(&self.sum()) {
                return Err(EngineError::Cancelled);
            }
        }
        Ok(())
    }

    /// The rows of all parts of the first collection, if all parts have reached it.
    fn next_collection(&mut self) -> Option<Vec<Batch>> {
        let reached = self.reached.iter().copied().min()?;
        let fronts = self.batches.iter().filter_map(VecDeque::front);
        let until = fronts.map(|batch| batch.until).min().filter(|&until| until <= reached)?;
        let of_part = |batches: &mut VecDeque<Batch>| match batches.front() {
            Some(first) if first.until == until => batches.pop_front(),
            _ => None,
        };
        Some(self.batches.iter_mut().filter_map(of_part).collect())
    }

    /// The progress of all parts.
    fn sum(&self) -> Progress {
        self.progress.iter().fold(Progress::default(), |all, part| Progress {
            now: part.now.max(all.now),
            events: all.events + part.events,
            packets: all.packets + part.packets,
            completed_flows: all.completed_flows + part.completed_flows,
        })
    }
}
