//! A switch under control in several pipes, each on a core of its own or, in virtual time, all on
//! one. What a controller writes goes to each; what it reads is of all of them together.
//!
//! Who holds all pipes holds them between two packets of each, so an update is never seen half.

use std::collections::VecDeque;

use narrows_common::{Packet, Time};
use narrows_switch::{
    ControlError, Count, CountedEntry, Digest, Statistics, Switch, SwitchConfig, TableEntry,
    Transmit,
};

use crate::network::managed_switch::{Config, Controlled, Refusal};

/// The pipes of one switch, by their numbers; there is at least one.
pub struct Pipes<'a>(Vec<&'a mut Controlled>);

/// A switch's pipes without a program, as many as its ports are of.
pub fn pipes(config: &Config, seed: u64) -> Vec<Controlled> {
    let last = config.switch.ports.iter().map(|port| port.pipeline).max().unwrap_or(0);
    let pipe = |pipeline| {
        let switch = SwitchConfig { pipeline, ..config.switch.clone() };
        Controlled::new(Config { switch, ..config.clone() }, seed)
    };
    (0..=last).map(pipe).collect()
}

impl<'a> Pipes<'a> {
    /// All pipes of a switch, in their order.
    pub fn new(each: impl IntoIterator<Item = &'a mut Controlled>) -> Self {
        Pipes(each.into_iter().collect())
    }

    /// The pipe that answers for what is the same in all.
    pub fn first(&mut self) -> &mut Controlled {
        self.0[0]
    }

    /// Does the same in every pipe; the first one's answer.
    ///
    /// # Errors
    /// The first refusal. What the first pipe refuses is done in none.
    pub fn each<T>(
        &mut self,
        mut operation: impl FnMut(&mut Controlled) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let first = operation(self.0[0])?;
        for other in &mut self.0[1..] {
            operation(other)?;
        }
        Ok(first)
    }

    /// The pipe that has a port's queues; the first, which refuses it, when there is no such port.
    pub fn of_port(&mut self, port: u16) -> &mut Controlled {
        let pipe = self.0[0].config.pipe_of(port);
        self.0[usize::from(pipe)]
    }

    /// A packet comes in by the CPU port: now, by its pipe.
    pub fn packet_out(&mut self, port: u16, packet: Packet) {
        let pipe = self.of_port(port);
        pipe.handle_packet(pipe.now, port, packet);
    }

    /// When the switch last did something.
    pub fn now(&self) -> Time {
        self.0.iter().map(|pipe| pipe.now).max().unwrap_or_default()
    }

    /// In virtual time: a packet arrives at a port, and comes in by its pipe.
    pub fn handle_packet(&mut self, now: Time, port: u16, packet: Packet) {
        self.handle_timeout(now);
        self.of_port(port).handle_packet(now, port, packet);
        self.carry();
    }

    /// In virtual time: goes on to `now`, all pipes in step.
    pub fn handle_timeout(&mut self, now: Time) {
        self.carry();
        while let Some((at, pipe)) = self.next()
            && at <= now
        {
            self.0[pipe].handle_timeout(at);
            self.carry();
        }
        self.0.iter_mut().for_each(|pipe| pipe.handle_timeout(now));
    }

    /// When [`Pipes::handle_timeout`] is needed next, if packets wait.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.next().map(|(at, _)| at)
    }

    fn next(&self) -> Option<(Time, usize)> {
        let waiting = self.0.iter().enumerate();
        waiting.filter_map(|(number, pipe)| Some((pipe.poll_timeout()?, number))).min()
    }

    /// Brings packets to the pipes that have their ports.
    fn carry(&mut self) {
        let mut from = 0;
        while from < self.0.len() {
            match self.0[from].handed_over.pop_front() {
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
        self.0.iter_mut().for_each(|pipe| sent.append(&mut pipe.sent));
        sent.make_contiguous().sort_by_key(|transmit| transmit.start);
        sent
    }

    /// What all have done, ports aside, and how many packets came while there was no program.
    pub fn statistics(&self) -> (Statistics, u64) {
        let all = self.0.iter().map(|pipe| pipe.statistics()).reduce(|sum, one| sum + one);
        (all.unwrap_or_default(), self.0.iter().map(|pipe| pipe.no_program).sum())
    }

    /// Packets and bytes that came in by a port, by whichever pipe.
    pub fn received(&self, port: u16) -> (u64, u64) {
        let each = self.0.iter().filter_map(|pipe| pipe.received.get(&port));
        each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Counts of all pipes together.
    ///
    /// # Errors
    /// As `read` says, or when there is no program.
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

    /// Sets a count of all pipes together, which the first one then has.
    ///
    /// # Errors
    /// As `write` says, or when there is no program.
    pub fn set_count(
        &mut self,
        count: Count,
        write: impl Fn(&mut Switch, Count) -> Result<(), ControlError>,
    ) -> Result<(), Refusal> {
        let mut count = Some(count);
        self.each(|pipe| Ok(write(pipe.switch()?, count.take().unwrap_or_default())?))
    }

    /// The entry with these matches and priority, with its count in all pipes.
    ///
    /// # Errors
    /// As [`Switch::find_entry`], or when there is no program.
    pub fn entry(&mut self, entry: &TableEntry) -> Result<Option<CountedEntry>, Refusal> {
        let mut found: Option<CountedEntry> = None;
        for pipe in &mut self.0 {
            if let Some((entry, count)) = pipe.switch()?.find_entry(entry)? {
                let before = found.take().map_or(Count::default(), |(_, before)| before);
                found = Some((entry, before + count));
            }
        }
        Ok(found)
    }

    /// As [`Switch::entries_from`], with the counts of all pipes.
    ///
    /// # Errors
    /// When there is no such table, or no program.
    pub fn entries_from(
        &mut self,
        table: &str,
        place: u32,
        most: usize,
    ) -> Result<(Vec<CountedEntry>, Option<u32>), Refusal> {
        let (mut entries, next) = self.0[0].switch()?.entries_from(table, place, most)?;
        for other in &mut self.0[1..] {
            let (more, _) = other.switch()?.entries_from(table, place, most)?;
            entries.iter_mut().zip(more).for_each(|((_, sum), (_, more))| *sum = *sum + more);
        }
        Ok((entries, next))
    }

    /// As [`Switch::read_registers_of`].
    ///
    /// # Errors
    /// When there is no such register, it ends before, or there is no program.
    pub fn registers(
        &mut self,
        name: &str,
        first: u64,
        count: u64,
    ) -> Result<Vec<String>, Refusal> {
        let mut switches: Vec<&Switch> = vec![];
        for pipe in &mut self.0 {
            switches.push(pipe.switch()?);
        }
        Ok(Switch::read_registers_of(&switches, name, first, count)?)
    }

    /// The first pipe's switch, which knows by now of every hit of an entry in any.
    ///
    /// # Errors
    /// When there is no program.
    pub fn switch_with_hits(&mut self) -> Result<&mut Switch, Refusal> {
        let [first, others @ ..] = &mut self.0[..] else { unreachable!("there is a pipe") };
        let switch = first.switch()?;
        for other in others {
            switch.learn_hits(other.switch()?);
        }
        Ok(switch)
    }

    /// Entries that no pipe has hit for longer than they may be idle, each told once.
    pub fn take_expired(&mut self) -> Vec<TableEntry> {
        let now = self.now();
        self.switch_with_hits().map(|switch| switch.take_expired(now)).unwrap_or_default()
    }

    /// Every pipe's digests, in its order.
    pub fn take_digests(&mut self) -> Vec<Digest> {
        self.switches().flat_map(|switch| std::iter::from_fn(|| switch.poll_digest())).collect()
    }

    /// Every pipe's log messages, in its order.
    pub fn take_log(&mut self) -> Vec<String> {
        self.switches().flat_map(Switch::take_log).collect()
    }

    fn switches(&mut self) -> impl Iterator<Item = &mut Switch> {
        self.0.iter_mut().filter_map(|pipe| pipe.switch.as_mut())
    }

    /// What a program is built for: every pipe's configuration, and its seed.
    pub fn configs(&self) -> Vec<(Config, u64)> {
        self.0.iter().map(|pipe| (pipe.config.clone(), pipe.seed)).collect()
    }

    /// Goes on under another program, made for each pipe.
    ///
    /// # Errors
    /// As [`Controlled::install`].
    pub fn install(&mut self, switches: Vec<Switch>) -> Result<(), Refusal> {
        let each = self.0.iter_mut().zip(switches);
        each.into_iter().try_for_each(|(pipe, switch)| pipe.install(switch))
    }
}
