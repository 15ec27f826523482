//! A switch under control with several pipelines: each on its own core or, in virtual time, all on
//! one. A controller's write goes to each pipeline; a read combines all of them.
//!
//! The holder of all pipelines holds them between two packets of each. So no packet sees half of an
//! update.

use std::collections::VecDeque;
use std::iter;

use narrows_common::{Packet, Time, budgets};
use narrows_queueing::QueueRecord;
use narrows_switch::{
    ControlError, Count, CountedEntry, Digest, Statistics, Switch, SwitchConfig, TableEntry,
    Transmit,
};

use super::ManagedSwitch;
use super::config::Config;
use super::packet_ins::Lost;
use super::refusal::Refusal;

/// The pipelines of one switch, in the order of their numbers; there is at least one.
pub struct Pipelines<'a>(Vec<&'a mut ManagedSwitch>);

/// A switch's pipelines without a program: one per pipeline that the ports name.
pub fn pipelines(config: &Config, seed: u64) -> Vec<ManagedSwitch> {
    let last = config.switch.ports.iter().map(|port| port.pipeline).max().unwrap_or(0);
    let pipeline = |pipeline| {
        let switch = SwitchConfig { pipeline, ..config.switch.clone() };
        ManagedSwitch::new(Config { switch, ..config.clone() }, seed)
    };
    (0..=last).map(pipeline).collect()
}

impl<'a> Pipelines<'a> {
    /// All pipelines of a switch, in their order.
    pub fn new(each: impl IntoIterator<Item = &'a mut ManagedSwitch>) -> Self {
        Pipelines(each.into_iter().collect())
    }

    /// The pipeline that answers for state that is the same in all.
    pub fn first(&mut self) -> &mut ManagedSwitch {
        self.0[0]
    }

    /// Runs the same operation in every pipeline and returns the first pipeline's answer.
    ///
    /// # Errors
    /// The first refusal. If the first pipeline refuses, no pipeline changes.
    pub fn each<T>(
        &mut self,
        mut operation: impl FnMut(&mut ManagedSwitch) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let first = operation(self.0[0])?;
        for other in &mut self.0[1..] {
            operation(other)?;
        }
        Ok(first)
    }

    /// The pipeline that has a port's queues; the first one, which refuses it, if the port does not
    /// exist.
    pub fn of_port(&mut self, port: u16) -> &mut ManagedSwitch {
        let pipeline = self.0[0].config.pipeline_of(port);
        self.0[usize::from(pipeline)]
    }

    /// A packet enters its pipeline by the CPU port, at the current time.
    pub fn packet_out(&mut self, port: u16, packet: Box<Packet>) {
        let pipeline = self.of_port(port);
        pipeline.handle_packet(pipeline.now, port, packet);
    }

    /// When the switch last did something.
    pub fn now(&self) -> Time {
        self.0.iter().map(|pipeline| pipeline.now).max().unwrap_or_default()
    }

    /// In virtual time: a packet arrives at a port and enters the port's pipeline.
    pub fn handle_packet(&mut self, now: Time, port: u16, packet: Box<Packet>) {
        self.handle_timeout(now);
        self.of_port(port).handle_packet(now, port, packet);
        self.carry();
    }

    /// In virtual time: advances to `now`, all pipelines in step.
    pub fn handle_timeout(&mut self, now: Time) {
        self.carry();
        while let Some((at, pipeline)) = self.next()
            && at <= now
        {
            self.0[pipeline].handle_timeout(at);
            self.carry();
        }
        self.0.iter_mut().for_each(|pipeline| pipeline.handle_timeout(now));
    }

    /// When [`Pipelines::handle_timeout`] must be called next; `None` if no packets wait.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.next().map(|(at, _)| at)
    }

    fn next(&self) -> Option<(Time, usize)> {
        let waiting = self.0.iter().enumerate();
        waiting.filter_map(|(number, pipeline)| Some((pipeline.poll_timeout()?, number))).min()
    }

    /// Moves packets to the pipelines that have their ports.
    fn carry(&mut self) {
        let mut from = 0;
        while from < self.0.len() {
            match self.0[from].poll_handover() {
                Some(handover) => {
                    let to = &mut self.0[usize::from(handover.pipeline)];
                    to.receive_handover(handover);
                    to.collect();
                    from = 0;
                }
                None => from += 1,
            }
        }
    }

    /// Takes the transmissions that began, in the order of their start times.
    pub fn take_sent(&mut self) -> VecDeque<Transmit> {
        let mut sent = VecDeque::new();
        self.0.iter_mut().for_each(|pipeline| sent.append(&mut pipeline.sent));
        sent.make_contiguous().sort_by_key(|transmit| transmit.start);
        sent
    }

    /// The counts of all pipelines, without the ports', and the packets received while no program
    /// was loaded.
    pub fn statistics(&self) -> (Statistics, u64) {
        let all = self.0.iter().map(|pipeline| pipeline.statistics()).reduce(|sum, one| sum + one);
        (all.unwrap_or_default(), self.0.iter().map(|pipeline| pipeline.no_program).sum())
    }

    /// Packets for the controllers that were dropped.
    pub fn packet_ins_lost(&self) -> Lost {
        self.0.iter().fold(Lost::default(), |sum, pipeline| {
            let lost = pipeline.packet_ins.lost();
            Lost { policed: sum.policed + lost.policed, no_room: sum.no_room + lost.no_room }
        })
    }

    /// Packets and bytes that came in by a port, by whichever pipeline.
    pub fn received(&self, port: u16) -> (u64, u64) {
        let each = self.0.iter().filter_map(|pipeline| pipeline.received.get(usize::from(port)));
        each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Sums a counter over all pipelines.
    ///
    /// # Errors
    /// Those of `read`, or if no program is loaded.
    pub fn counts(
        &mut self,
        read: impl Fn(&Switch) -> Result<Vec<Count>, ControlError>,
    ) -> Result<Vec<Count>, Refusal> {
        let mut sums = read(self.0[0].switch()?)?;
        for other in &mut self.0[1..] {
            let more = read(other.switch()?)?;
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = *sum + more);
        }
        Ok(sums)
    }

    /// Sets a counter for all pipelines: the first one holds the value, the others zero.
    ///
    /// # Errors
    /// Those of `write`, or if no program is loaded.
    pub fn set_count(
        &mut self,
        count: Count,
        write: impl Fn(&mut Switch, Count) -> Result<(), ControlError>,
    ) -> Result<(), Refusal> {
        let mut count = Some(count);
        self.each(|pipeline| Ok(write(pipeline.switch()?, count.take().unwrap_or_default())?))
    }

    /// The entry with these matches and priority, with its counters summed over all pipelines.
    ///
    /// # Errors
    /// Those of [`Switch::find_entry`], or if no program is loaded.
    pub fn entry(&mut self, entry: &TableEntry) -> Result<Option<CountedEntry>, Refusal> {
        let mut found: Option<CountedEntry> = None;
        for pipeline in &mut self.0 {
            if let Some((entry, count)) = pipeline.switch()?.find_entry(entry)? {
                let before = found.take().map_or(Count::default(), |(_, before)| before);
                found = Some((entry, before + count));
            }
        }
        Ok(found)
    }

    /// Like [`Switch::entries_from`], with the counters of all pipelines.
    ///
    /// # Errors
    /// If the table does not exist, or no program is loaded.
    pub fn entries_from(
        &mut self,
        table: &str,
        from: u32,
        most: usize,
    ) -> Result<(Vec<CountedEntry>, Option<u32>), Refusal> {
        let (mut entries, next) = self.0[0].switch()?.entries_from(table, from, most)?;
        for other in &mut self.0[1..] {
            let (more, _) = other.switch()?.entries_from(table, from, most)?;
            entries.iter_mut().zip(more).for_each(|((_, sum), (_, more))| *sum = *sum + more);
        }
        Ok((entries, next))
    }

    /// Like [`Switch::read_registers_of`].
    ///
    /// # Errors
    /// If the register does not exist, the index is past its end, or no program is loaded.
    pub fn registers(
        &mut self,
        name: &str,
        first: u64,
        count: u64,
    ) -> Result<Vec<String>, Refusal> {
        let mut switches: Vec<&Switch> = vec![];
        for pipeline in &mut self.0 {
            switches.push(pipeline.switch()?);
        }
        Ok(Switch::read_registers_of(&switches, name, first, count)?)
    }

    /// The first pipeline's switch, updated with the entry hits of all pipelines.
    ///
    /// # Errors
    /// If no program is loaded.
    pub fn switch_with_hits(&mut self) -> Result<&mut Switch, Refusal> {
        let [first, others @ ..] = &mut self.0[..] else { unreachable!("there is a pipeline") };
        let switch = first.switch()?;
        for other in others {
            switch.learn_hits(other.switch()?);
        }
        Ok(switch)
    }

    /// Entries idle in every pipeline for longer than their time-out; each is reported once.
    pub fn take_expired(&mut self) -> Vec<TableEntry> {
        let now = self.now();
        self.switch_with_hits().map(|switch| switch.take_expired(now)).unwrap_or_default()
    }

    /// The oldest digests of every pipeline, [`budgets::DIGESTS_AT_ONCE`] of each at most, in
    /// pipeline order.
    pub fn take_digests(&mut self) -> Vec<Digest> {
        let most = budgets::DIGESTS_AT_ONCE;
        self.switches().flat_map(|one| iter::from_fn(|| one.poll_digest()).take(most)).collect()
    }

    /// The ledger's rows of every pipeline since the last call, in pipeline order.
    pub fn take_records(&mut self) -> Vec<QueueRecord> {
        self.0.iter_mut().flat_map(|pipeline| pipeline.take_records()).collect()
    }

    /// The log messages of every pipeline, in pipeline order.
    pub fn take_log(&mut self) -> Vec<String> {
        self.switches().flat_map(Switch::take_log).collect()
    }

    fn switches(&mut self) -> impl Iterator<Item = &mut Switch> {
        self.0.iter_mut().filter_map(|pipeline| pipeline.switch.as_mut())
    }

    /// The configuration and seed of every pipeline, to build a program for each.
    pub fn configs(&self) -> Vec<(Config, u64)> {
        self.0.iter().map(|pipeline| (pipeline.config.clone(), pipeline.seed)).collect()
    }

    /// Replaces the program of every pipeline.
    ///
    /// # Errors
    /// Those of [`ManagedSwitch::install`].
    pub fn install(&mut self, switches: Vec<Switch>) -> Result<(), Refusal> {
        let each = self.0.iter_mut().zip(switches);
        each.into_iter().try_for_each(|(pipeline, switch)| pipeline.install(switch))
    }
}
