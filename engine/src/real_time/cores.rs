//! The threads of a switch on DPDK ports: one for each of its pipelines.
//!
//! A controller's command runs on all pipelines between two turns of their loops. The other threads
//! lend their nodes to the first one, which executes the command and returns the nodes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use narrows_dpdk::{Clock, Eal, Idle, Start};

use super::data_path::DataPath;
use super::inlet::RemoteQueue;
use super::switch_node::SwitchNode;
use super::wire::Wire;
use crate::mailbox::MailboxReceiver;
use crate::network::managed_switch::ManagedSwitch;
use crate::network::managed_switch::handle::Command;
use crate::network::managed_switch::pipelines::Pipelines;
use crate::record::instrument::Instrument;

/// The result of a switch's threads: its pipelines and their joint instrument.
pub type Ended = (Vec<ManagedSwitch>, Instrument);
/// A pipeline with the wires and queues of its core.
pub type Share = (SwitchNode, Vec<Wire>, Vec<RemoteQueue>);
/// The state of one thread.
type Core = (DataPath, SwitchNode);

/// A switch's data paths and pipelines, one pair per core.
pub struct Cores {
    eal: Eal,
    first: Core,
    others: Vec<Core>,
}

impl Cores {
    /// Creates a core for each pipeline, with its wires and remote queues.
    pub fn new(eal: Eal, idle: &Idle, pipelines: Vec<Share>) -> Cores {
        let clock = Clock::start(eal);
        let core = |(node, wires, remote_queues)| {
            (
                DataPath::new(clock.clone(), idle.clone(), wires).with_remote_queues(remote_queues),
                node,
            )
        };
        let mut cores = pipelines.into_iter().map(core);
        let first = cores.next().expect("a switch has a pipeline");
        Cores { eal, first, others: cores.collect() }
    }

    /// Runs until `stop`, or until a core ends on its own, which is a bug.
    pub fn run(self, commands: MailboxReceiver<Command>, stop: &AtomicBool) -> Ended {
        let Cores { eal, first: (mut path, mut node), others } = self;
        let start = Start { at_ns: path.begin(eal, None), rate: path.clock_rate() };
        thread::scope(|scope| {
            let begin = |core| OtherCore::begin(scope, core, eal, start);
            let others: Vec<OtherCore<'_>> = others.into_iter().map(begin).collect();
            while !stop.load(Ordering::Relaxed) && others.iter().all(OtherCore::runs) {
                if let Some(command) = commands.try_receive() {
                    let mut nodes: Vec<SwitchNode> =
                        others.iter().map(OtherCore::lend_node).collect();
                    execute(command, &commands, &mut all(&mut node, &mut nodes));
                    others.iter().zip(nodes).for_each(|(other, node)| other.return_node(node));
                }
                path.turn(&mut node);
            }
            let mut instruments = vec![path.instrument()];
            let mut nodes = vec![];
            for other in others {
                let (path, node) = other.end();
                nodes.push(node);
                instruments.push(path.instrument());
            }
            // Answer the commands that arrived before the end.
            let left = commands.close();
            left.into_iter().for_each(|command| command(&mut all(&mut node, &mut nodes)));
            let nodes = core::iter::once(node).chain(nodes);
            (nodes.map(SwitchNode::into_managed).collect(), Instrument::joined(instruments))
        })
    }
}

/// Executes a command, and all commands that arrived during it.
fn execute(command: Command, commands: &MailboxReceiver<Command>, pipelines: &mut Pipelines<'_>) {
    command(pipelines);
    core::iter::from_fn(|| commands.try_receive()).for_each(|command| command(pipelines));
}

/// All pipelines of a switch.
fn all<'a>(first: &'a mut SwitchNode, others: &'a mut [SwitchNode]) -> Pipelines<'a> {
    Pipelines::new(core::iter::once(first).chain(others).map(SwitchNode::managed))
}

/// A core other than the first. It ends once its caller is gone.
struct OtherCore<'scope> {
    call: SyncSender<()>,
    lent: Receiver<SwitchNode>,
    returned: SyncSender<SwitchNode>,
    thread: ScopedJoinHandle<'scope, Core>,
}

impl<'scope> OtherCore<'scope> {
    fn begin(scope: &'scope Scope<'scope, '_>, core: Core, eal: Eal, start: Start) -> Self {
        let (call, called) = sync_channel(1);
        let (lend, lent) = sync_channel(1);
        let (returned, returns) = sync_channel(1);
        let thread = scope.spawn(move || {
            let (mut path, mut node) = core;
            path.begin(eal, Some(start));
            loop {
                match called.try_recv() {
                    Ok(()) => {
                        lend.send(node).expect(WAITS);
                        node = returns.recv().expect(WAITS);
                    }
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => return (path, node),
                }
                path.turn(&mut node);
            }
        });
        OtherCore { call, lent, returned, thread }
    }

    fn runs(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Lends its node at the end of a turn.
    fn lend_node(&self) -> SwitchNode {
        self.call.send(()).expect(RUNS);
        self.lent.recv().expect(RUNS)
    }

    fn return_node(&self, node: SwitchNode) {
        self.returned.send(node).expect(RUNS);
    }

    fn end(self) -> Core {
        drop(self.call);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

const WAITS: &str = "the first core waits for the node";
const RUNS: &str = "a core runs until its caller is dropped";
