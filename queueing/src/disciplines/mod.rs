//! Queue disciplines: one file each, and one list.
//!
//! To add one, write a file with a type and its [`Record`], and add a line to the list below.
//! Scenario keys, gNMI leaves, ledger reasons, `narrows list` and the property tests use the
//! record.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{COMMON_DROPS, COMMON_MARKS, DropReason, MarkReason, Outcomes, Reason};
use crate::queued::{Backlog, Queued, QueuedPacket};
use crate::randomness::Randomness;
use crate::record::{DisciplineError, Parameters, Record};
use narrows_common::Time;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The methods of a discipline that keeps all its packets in `self.fifo`.
macro_rules! one_fifo {
    () => {
        #[inline]
        fn backlog(&self) -> Backlog {
            self.fifo.backlog()
        }

        fn visit(&self, each: &mut dyn FnMut(&Queued<P>)) {
            self.fifo.iter().for_each(each);
        }

        fn hand_over(&mut self) -> Option<Queued<P>> {
            self.fifo.pop()
        }
    };
}

/// Defines the modules, the list of records, and an enum of all disciplines. The enum dispatches by
/// a `match`, which is cheaper than an indirect call. DropTail, which most queues have, is inlined
/// where packets pass; the others are called, so that it does not pay for their size.
macro_rules! disciplines {
    ($($module:ident::$Type:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// The record of every discipline.
        pub const DISCIPLINES: &[Record] = &[$($module::RECORD),+];

        /// A queue with one of the disciplines.
        #[derive(Debug)]
        #[expect(missing_docs, reason = "each is documented by its record")]
        pub enum Discipline<P> {
            $($Type($module::$Type<P>)),+
        }

        impl<P: QueuedPacket> Discipline<P> {
            /// An empty queue of the discipline at an index of the list.
            fn at(index: usize, setup: &Setup) -> Self {
                let make: &[fn(&Setup) -> Self] =
                    &[$(|setup| Discipline::$Type($module::$Type::new(setup))),+];
                make[index](setup)
            }

            /// Its index in the list.
            fn index(&self) -> usize {
                let names = [$(stringify!($Type)),+];
                let name = match self { $(Discipline::$Type(_) => stringify!($Type)),+ };
                names.iter().position(|known| *known == name).expect("it is in the list")
            }

            #[inline(never)]
            fn call_enqueue(
                &mut self, packet: Queued<P>, now: Time, room: &Room, out: &mut Outcomes<P>,
            ) {
                match self {
                    $(Discipline::$Type(queue) => queue.enqueue(packet, now, room, out)),+
                }
            }

            #[inline(never)]
            fn call_dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
                match self { $(Discipline::$Type(queue) => queue.dequeue(now, out)),+ }
            }
        }

        impl<P: QueuedPacket> QueueDiscipline<P> for Discipline<P> {
            #[inline(always)]
            fn enqueue(
                &mut self, packet: Queued<P>, now: Time, room: &Room, out: &mut Outcomes<P>,
            ) {
                match self {
                    Discipline::DropTail(queue) => queue.enqueue(packet, now, room, out),
                    other => other.call_enqueue(packet, now, room, out),
                }
            }

            #[inline(always)]
            fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
                match self {
                    Discipline::DropTail(queue) => queue.dequeue(now, out),
                    other => other.call_dequeue(now, out),
                }
            }

            #[inline]
            fn is_transparent(&self) -> bool {
                match self {
                    $(Discipline::$Type(queue) => QueueDiscipline::<P>::is_transparent(queue)),+
                }
            }

            #[inline]
            fn next_timer(&self) -> Option<Time> {
                match self {
                    $(Discipline::$Type(queue) => QueueDiscipline::<P>::next_timer(queue)),+
                }
            }

            fn on_timer(&mut self, now: Time) {
                match self {
                    $(Discipline::$Type(queue) => QueueDiscipline::<P>::on_timer(queue, now)),+
                }
            }

            #[inline]
            fn backlog(&self) -> Backlog {
                match self { $(Discipline::$Type(queue) => queue.backlog()),+ }
            }

            fn visit(&self, each: &mut dyn FnMut(&Queued<P>)) {
                match self { $(Discipline::$Type(queue) => queue.visit(each)),+ }
            }

            fn hand_over(&mut self) -> Option<Queued<P>> {
                match self { $(Discipline::$Type(queue) => queue.hand_over()),+ }
            }

            fn set_parameters(&mut self, parameters: &Parameters) {
                match self { $(Discipline::$Type(queue) => queue.set_parameters(parameters)),+ }
            }
        }
    };
}

disciplines! {
    droptail::DropTail,
    ack_filter::AckFilter,
    codel::CoDel,
    red::Red,
    pie::Pie,
    fq_codel::FqCoDel,
    cobalt::Cobalt,
    dualpi2::DualPi2,
    drr::Drr,
    ecn_threshold::EcnThreshold,
}

/// The number of reasons to drop a packet.
pub(crate) const DROP_REASON_COUNT: usize = first_drop(DISCIPLINES.len());

/// All reasons to drop a packet: first those of every discipline, then each discipline's own.
pub const DROP_REASONS: [Reason; DROP_REASON_COUNT] = {
    let mut all = [COMMON_DROPS[0]; DROP_REASON_COUNT];
    let mut n = 0;
    while n < COMMON_DROPS.len() {
        all[n] = COMMON_DROPS[n];
        n += 1;
    }
    let mut i = 0;
    while i < DISCIPLINES.len() {
        let mut k = 0;
        while k < DISCIPLINES[i].drops.len() {
            all[n] = DISCIPLINES[i].drops[k];
            (n, k) = (n + 1, k + 1);
        }
        i += 1;
    }
    all
};

/// The index of the first reason of the `index`-th discipline.
const fn first_drop(index: usize) -> usize {
    let (mut n, mut i) = (COMMON_DROPS.len(), 0);
    while i < index {
        n += DISCIPLINES[i].drops.len();
        i += 1;
    }
    n
}

/// How many reasons there are to mark a packet.
pub(crate) const MARK_REASON_COUNT: usize = first_mark(DISCIPLINES.len());

/// All reasons to mark a packet: first that of every discipline, then each discipline's own.
pub const MARK_REASONS: [Reason; MARK_REASON_COUNT] = {
    let mut all = [COMMON_MARKS[0]; MARK_REASON_COUNT];
    let (mut n, mut i) = (COMMON_MARKS.len(), 0);
    while i < DISCIPLINES.len() {
        let mut k = 0;
        while k < DISCIPLINES[i].marks.len() {
            all[n] = DISCIPLINES[i].marks[k];
            (n, k) = (n + 1, k + 1);
        }
        i += 1;
    }
    all
};

/// The index of the first reason to mark of the `index`-th discipline.
const fn first_mark(index: usize) -> usize {
    let (mut n, mut i) = (COMMON_MARKS.len(), 0);
    while i < index {
        n += DISCIPLINES[i].marks.len();
        i += 1;
    }
    n
}

impl MarkReason {
    /// Every reason, in the order of their indices.
    pub fn all() -> impl Iterator<Item = MarkReason> {
        (0..MARK_REASON_COUNT).map(MarkReason::at)
    }

    /// The name in tables and summaries.
    pub const fn name(self) -> &'static str {
        MARK_REASONS[self.index()].name
    }
}

impl DropReason {
    /// All reasons, in index order.
    pub fn all() -> impl Iterator<Item = DropReason> {
        (0..DROP_REASON_COUNT).map(DropReason::at)
    }

    /// The name in tables and summaries.
    pub const fn name(self) -> &'static str {
        DROP_REASONS[self.index()].name
    }
}

/// A discipline by name, with the parameters that differ from their defaults, in base units. A plan
/// writes a discipline without parameters as its name alone.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(from = "Written")]
pub struct DisciplineConfig {
    /// The name.
    pub name: String,
    /// The given values.
    pub parameters: BTreeMap<String, f64>,
}

/// The forms of a discipline in a plan.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    /// Only the name: every parameter has its default.
    Name(String),
    /// With the parameters that differ from their defaults.
    Whole(Whole),
}

/// A discipline with the parameters that differ from their defaults.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DisciplineWithParameters")]
struct Whole {
    /// The name.
    name: String,
    /// The given values, in base units.
    #[serde(default)]
    parameters: BTreeMap<String, f64>,
}

impl From<Written> for DisciplineConfig {
    fn from(written: Written) -> Self {
        match written {
            Written::Name(name) => DisciplineConfig::named(&name),
            Written::Whole(Whole { name, parameters }) => DisciplineConfig { name, parameters },
        }
    }
}

impl Default for DisciplineConfig {
    fn default() -> Self {
        DisciplineConfig::named(droptail::RECORD.name)
    }
}

impl DisciplineConfig {
    /// A discipline with default parameters.
    pub fn named(name: &str) -> Self {
        DisciplineConfig { name: name.to_owned(), parameters: BTreeMap::new() }
    }

    /// Its record and the values of all its parameters.
    ///
    /// # Errors
    /// If the discipline does not exist, or it does not take these parameters.
    pub fn resolve(&self) -> Result<(&'static Record, Parameters), DisciplineError> {
        let record = &DISCIPLINES[self.index()?];
        Ok((record, Parameters::resolve(record, &self.parameters)?))
    }

    fn index(&self) -> Result<usize, DisciplineError> {
        let found = DISCIPLINES.iter().position(|record| record.name == self.name);
        found.ok_or_else(|| {
            let names: Vec<_> = DISCIPLINES.iter().map(|record| record.name).collect();
            DisciplineError::Unknown { name: self.name.clone(), expected: names.join(", ") }
        })
    }
}

impl<P: QueuedPacket> Discipline<P> {
    /// An empty queue.
    ///
    /// # Errors
    /// As [`DisciplineConfig::resolve`].
    pub fn build(
        config: &DisciplineConfig,
        randomness: Randomness,
    ) -> Result<Self, DisciplineError> {
        let (index, (_, parameters)) = (config.index()?, config.resolve()?);
        let (first_drop, first_mark) = (first_drop(index), first_mark(index));
        Ok(Self::at(index, &Setup { parameters, randomness, first_drop, first_mark }))
    }

    /// Its record.
    pub fn record(&self) -> &'static Record {
        &DISCIPLINES[self.index()]
    }
}
