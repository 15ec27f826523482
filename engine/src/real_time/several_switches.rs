//! Several switches on one data path: one thread polls the ports of all.

use std::sync::atomic::{AtomicBool, Ordering};

use narrows_common::{Packet, Time};
use narrows_dpdk::{Clock, Eal, Idle};

use super::data_path::DataPath;
use super::node::Node;
use super::switch_node::SwitchNode;
use super::wire::Wire;
use crate::mailbox::MailboxReceiver;
use crate::network::managed_switch::ManagedSwitch;
use crate::network::managed_switch::handle::Command;
use crate::network::managed_switch::pipelines::Pipelines;
use crate::network::wire_map::Departure;
use crate::record::instrument::Instrument;

/// A switch of one pipeline, with its wires and the commands of its controllers.
pub type OneSwitch = (SwitchNode, Vec<Wire>, MailboxReceiver<Command>);

/// Switches as one node. Their wires are numbered in the order of the switches.
struct Switches {
    nodes: Vec<SwitchNode>,
    /// The number of each switch's first wire.
    first_wire: Vec<usize>,
    /// The switch of each wire.
    of_wire: Vec<usize>,
}

impl Node for Switches {
    fn handle_packet(&mut self, now: Time, wire: usize, packet: Box<Packet>) {
        let switch = self.of_wire[wire];
        self.nodes[switch].handle_packet(now, wire - self.first_wire[switch], packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.nodes.iter_mut().for_each(|node| node.handle_timeout(now));
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.nodes.iter().filter_map(Node::poll_timeout).min()
    }

    fn poll_transmit(&mut self) -> Option<Departure> {
        let mut nodes = self.nodes.iter_mut().zip(&self.first_wire);
        nodes.find_map(|(node, first)| {
            let departure = node.poll_transmit()?;
            Some(Departure { wire: first + departure.wire, ..departure })
        })
    }

    /// While a controller replaces one switch's program, the packets of all wait.
    fn is_paused(&self) -> bool {
        self.nodes.iter().any(Node::is_paused)
    }

    fn take_packet(&mut self) -> Box<Packet> {
        self.nodes[0].take_packet()
    }

    fn recycle(&mut self, packet: Box<Packet>) {
        self.nodes[0].recycle(packet);
    }
}

/// Runs the switches on this thread until `stop`. Returns them and their joint instrument.
pub fn run_several(
    eal: Eal,
    idle: Idle,
    switches: Vec<OneSwitch>,
    stop: &AtomicBool,
) -> (Vec<ManagedSwitch>, Instrument) {
    let (mut nodes, mut mailboxes, mut all_wires) = (vec![], vec![], vec![]);
    let (mut first_wire, mut of_wire) = (vec![], vec![]);
    for (number, (node, wires, commands)) in switches.into_iter().enumerate() {
        first_wire.push(all_wires.len());
        of_wire.extend(wires.iter().map(|_| number));
        all_wires.extend(wires);
        nodes.push(node);
        mailboxes.push(commands);
    }
    let mut switches = Switches { nodes, first_wire, of_wire };
    let mut path = DataPath::new(Clock::start(eal), idle, all_wires);
    path.begin(eal, None);
    while !stop.load(Ordering::Relaxed) {
        for (node, commands) in switches.nodes.iter_mut().zip(&mailboxes) {
            while let Some(command) = commands.try_receive() {
                command(&mut Pipelines::new([node.managed()]));
            }
        }
        path.turn(&mut switches);
    }
    // Answer the commands that arrived before the end.
    for (node, commands) in switches.nodes.iter_mut().zip(mailboxes) {
        let left = commands.close();
        left.into_iter().for_each(|command| command(&mut Pipelines::new([node.managed()])));
    }
    let nodes = switches.nodes.into_iter();
    (nodes.map(SwitchNode::into_managed).collect(), path.instrument())
}
