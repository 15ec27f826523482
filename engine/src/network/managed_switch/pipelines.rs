//! A switch under control in several pipelines, each on a core of its own or, in virtual time, all on
//! one. What a controller writes goes to each; what it reads is of all of them together.
//!
//! Who holds all pipelines holds them between two packets of each, so an update is never seen half.

use std::collections::VecDeque;

use narrows_common::{Packet, Time};
use narrows_switch::{
    ControlError, Count, CountedEntry, Digest, Statistics, Switch, SwitchConfig, TableEntry,
    Transmit,
};

use super::ManagedSwitch;
use super::config::Config;
use super::packet_ins::Lost;
use super::refusal::Refusal;

/// The pipelines of one switch, by their numbers; there is at least one.
pub struct Pipelines<'a>(Vec<&'a mut ManagedSwitch>);

/// A switch's pipelines without a program, as many as its ports are of.
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

    /// The pipeline that answers for what is the same in all.
    pub fn first(&mut self) -> &mut ManagedSwitch {
        self.0[0]
    }

    /// Does the same in every pipeline; the first one's answer.
    ///
    /// # Errors
    /// The first refusal. What the first pipeline refuses is done in none.
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

    /// The pipeline that has a port's queues; the first, which refuses it, when the port does not exist.
    pub fn of_port(&mut self, port: u16) -> &mut ManagedSwitch {
        let pipeline = self.0[0].config.pipeline_of(port);
        self.0[usize::from(pipeline)]
    }

    /// A packet comes in by the CPU port: now, by its pipeline.
    pub fn packet_out(&mut self, port: u16, packet: Packet) {
        let pipeline = self.of_port(port);
        pipeline.handle_packet(pipeline.now, port, packet);
    }

    /// When the switch last did something.
    pub fn now(&self) -> Time {
        self.0.iter().map(|pipeline| pipeline.now).max().unwrap_or_default()
    }

    /// In virtual time: a packet arrives at a port, and comes in by its pipeline.
    pub fn handle_packet(&mut self, now: Time, port: u16, packet: Packet) {
        self.handle_timeout(now);
        self.of_port(port).handle_packet(now, port, packet);
        self.carry();
    }

    /// In virtual time: goes on to `now`, all pipelines in step.
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

    /// When [`Pipelines::handle_timeout`] is needed next, if packets wait.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.next().map(|(at, _)| at)
    }

    fn next(&self) -> Option<(Time, usize)> {
        let waiting = self.0.iter().enumerate();
        waiting.filter_map(|(number, pipeline)| Some((pipeline.poll_timeout()?, number))).min()
    }

    /// Brings packets to the pipelines that have their ports.
    fn carry(&mut self) {
        let mut from = 0;
        while from < self.0.len() {
            match self.0[from].handovers.pop_front() {
                Some(handed) => {
                    self.0[usize::from(handed.handover.pipeline)].handle_handover(handed);
                    from = 0;
                }
                None => from += 1,
            }
        }
    }

    /// Takes the transmissions that began, in the order of their starts.
    pub fn take_sent(&mut self) -> VecDeque<Transmit> {
        let mut sent = VecDeque::new();
        self.0.iter_mut().for_each(|pipeline| sent.append(&mut pipeline.sent));
        sent.make_contiguous().sort_by_key(|transmit| transmit.start);
        sent
    }

    /// What all have done, ports aside, and how many packets came while there was no program.
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
        let each = self.0.iter().filter_map(|pipeline| pipeline.received.get(&port));
        each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Counts of all pipelines together.
    ///
    /// # Errors
    /// As `read` says, or if no program is loaded.
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

    /// Sets a count of all pipelines together, which the first one then has.
    ///
    /// # Errors
    /// As `write` says, or if no program is loaded.
    pub fn set_count(
        &mut self,
        count: Count,
        write: impl Fn(&mut Switch, Count) -> Result<(), ControlError>,
    ) -> Result<(), Refusal> {
        let mut count = Some(count);
        self.each(|pipeline| Ok(write(pipeline.switch()?, count.take().unwrap_or_default())?))
    }

    /// The entry with these matches and priority, with its count in all pipelines.
    ///
    /// # Errors
    /// As [`Switch::find_entry`], or if no program is loaded.
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

    /// As [`Switch::entries_from`], with the counts of all pipelines.
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

    /// As [`Switch::read_registers_of`].
    ///
    /// # Errors
    /// If the register does not exist, it ends before, or no program is loaded.
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

    /// The first pipeline's switch, which knows by now of every hit of an entry in any.
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

    /// Entries that no pipeline has hit for longer than they may be idle, each told once.
    pub fn take_expired(&mut self) -> Vec<TableEntry> {
        let now = self.now();
        self.switch_with_hits().map(|switch| switch.take_expired(now)).unwrap_or_default()
    }

    /// Every pipeline's digests, in its order.
    pub fn take_digests(&mut self) -> Vec<Digest> {
        self.switches().flat_map(|switch| std::iter::from_fn(|| switch.poll_digest())).collect()
    }

    /// Every pipeline's log messages, in its order.
    pub fn take_log(&mut self) -> Vec<String> {
        self.switches().flat_map(Switch::take_log).collect()
    }

    fn switches(&mut self) -> impl Iterator<Item = &mut Switch> {
        self.0.iter_mut().filter_map(|pipeline| pipeline.switch.as_mut())
    }

    /// What a program is built for: every pipeline's configuration, and its seed.
    pub fn configs(&self) -> Vec<(Config, u64)> {
        self.0.iter().map(|pipeline| (pipeline.config.clone(), pipeline.seed)).collect()
    }

    /// Goes on under another program, made for each pipeline.
    ///
    /// # Errors
    /// As [`ManagedSwitch::install`].
    pub fn install(&mut self, switches: Vec<Switch>) -> Result<(), Refusal> {
        let each = self.0.iter_mut().zip(switches);
        each.into_iter().try_for_each(|(pipeline, switch)| pipeline.install(switch))
    }
}
