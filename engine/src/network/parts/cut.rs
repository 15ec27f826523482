//! Which node of a network is in which part, and how long a packet takes from part to part.
//!
//! Switches go with their cables and with the access links at them. A part with switches follows
//! the parts that have only hosts: an access link draws its jitter in the order of all its packets.
//! So it must know what a host has sent before it goes on.

use std::collections::{BTreeMap, VecDeque};

use narrows_common::Duration;

use crate::plan::{EndPlan, Plan};

/// A network's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The part of each switch.
    pub switches: Vec<usize>,
    /// The part of each host.
    pub hosts: Vec<usize>,
    /// The switch of each host.
    pub switch_of_host: Vec<usize>,
    /// The parts before it have switches; this one and those after it have hosts only.
    pub first_of_hosts: usize,
    /// The least delay of a packet in flight from a part to another: `delays[from][to]`; `None` if
    /// none crosses.
    pub delays: Vec<Vec<Option<Duration>>>,
}

impl Cut {
    /// At most so many parts with about the same work, and at most [`u16::MAX`]; `None` if there is
    /// only one.
    pub fn new(plan: &Plan, most: usize) -> Option<Cut> {
        let most = most.min(usize::from(u16::MAX));
        if most > 1 { Cut::of(&Graph::new(plan)?, most) } else { None }
    }

    fn of(graph: &Graph, most: usize) -> Option<Cut> {
        let clusters = graph.clusters();
        let following = most.min(clusters.len());
        let switches = share_out(&clusters, &graph.loads, following);
        let mut cut = Cut {
            hosts: graph.hosts.iter().map(|host| switches[host.switch]).collect(),
            switch_of_host: graph.hosts.iter().map(|host| host.switch).collect(),
            switches,
            first_of_hosts: following,
            delays: Vec::new(),
        };
        cut.separate_hosts(graph, most);
        let parts = cut.hosts.iter().chain(&cut.switches).max().map_or(0, |last| last + 1);
        cut.delays = cut.least_delays(graph, parts);
        (parts > 1).then_some(cut)
    }

    /// How many parts.
    pub fn len(&self) -> usize {
        self.delays.len()
    }

    /// The least delay between two parts.
    pub fn least_delay(&self) -> Duration {
        self.delays.iter().flatten().copied().flatten().min().unwrap_or(Duration::ZERO)
    }

    /// The parts that this one waits for, and by how much it may be ahead of them. It may not be
    /// ahead of the hosts at its access links.
    pub fn before(&self, own: usize) -> Vec<(usize, Duration)> {
        let delays = self.delays.iter().enumerate();
        let others = delays.filter_map(|(from, to)| Some((from, to[own]?)));
        let ends = self.hosts.iter().zip(&self.switch_of_host);
        let of_hosts = |part: usize| {
            let is_of =
                |(&host, &switch): (&usize, &usize)| host == part && self.switches[switch] == own;
            ends.clone().any(is_of)
        };
        let hosts = (self.first_of_hosts..self.len()).filter(|&part| part != own && of_hosts(part));
        others.chain(hosts.map(|part| (part, Duration::ZERO))).collect()
    }

    /// Gives the hosts parts of their own, if there are parts left: each host to the part that has
    /// the fewest flows.
    fn separate_hosts(&mut self, graph: &Graph, most: usize) {
        let mut flows = vec![0; most - self.first_of_hosts];
        for (part, host) in self.hosts.iter_mut().zip(&graph.hosts) {
            let least = (0..flows.len()).min_by_key(|&number| flows[number]);
            if let Some(number) = least.filter(|_| host.delay > Duration::ZERO) {
                flows[number] += host.flows.max(1);
                *part = self.first_of_hosts + number;
            }
        }
    }

    fn least_delays(&self, graph: &Graph, parts: usize) -> Vec<Vec<Option<Duration>>> {
        let mut delays = vec![vec![None; parts]; parts];
        let mut allow = |from: usize, to: usize, delay: Duration| {
            let least: &mut Option<Duration> = &mut delays[from][to];
            *least = Some(least.map_or(delay, |least| least.min(delay)));
        };
        for &(a, b, delay) in &graph.cables {
            let (a, b) = (self.switches[a], self.switches[b]);
            if a != b {
                allow(a, b, delay);
                allow(b, a, delay);
            }
        }
        for (&part, host) in self.hosts.iter().zip(&graph.hosts) {
            let switch = self.switches[host.switch];
            if part != switch {
                allow(switch, part, host.delay);
            }
        }
        delays
    }
}

/// A host of the graph.
#[derive(Debug)]
struct GraphHost {
    switch: usize,
    /// The least delay from its switch.
    delay: Duration,
    flows: u64,
}

/// The switches, their cables, and how much each has to do.
#[derive(Debug)]
struct Graph {
    /// Two switches, and the least delay between them.
    cables: Vec<(usize, usize, Duration)>,
    hosts: Vec<GraphHost>,
    /// Flows through each switch, and those that begin or end there.
    loads: Vec<u64>,
}

impl Graph {
    /// The graph of a plan; `None` if a name in it is wrong.
    fn new(plan: &Plan) -> Option<Graph> {
        let numbers = plan.switches.iter().map(|switch| &*switch.name).zip(0..);
        let numbers: BTreeMap<&str, usize> = numbers.collect();
        let mut graph = Graph { cables: vec![], hosts: vec![], loads: vec![0; numbers.len()] };
        let mut groups = BTreeMap::new();
        for cable in &plan.cables {
            let switch = *numbers.get(&*cable.a.switch)?;
            match &cable.b {
                EndPlan::Switch(far) => {
                    let far = *numbers.get(&*far.switch)?;
                    graph.cables.push((switch, far, cable.least_delay()));
                }
                EndPlan::Group(end) => {
                    // Impairments are the switch's.
                    let is_plain = cable.there.is_none();
                    let delay = if is_plain { cable.delay_ps } else { Duration::ZERO };
                    groups.insert(&*end.group, (switch, delay));
                }
                EndPlan::Collector(_) => {}
            }
        }
        let mut by_name = BTreeMap::new();
        for host in &plan.hosts {
            let &(switch, cable) = groups.get(&*host.group)?;
            by_name.insert(&*host.config.name, graph.hosts.len());
            let delay = cable + host.config.access.delay;
            graph.hosts.push(GraphHost { switch, delay, flows: 0 });
        }
        let mut pairs = BTreeMap::<(usize, usize), u64>::new();
        for flow in &plan.flows {
            let (from, to) = (*by_name.get(&*flow.from)?, *by_name.get(&*flow.to)?);
            graph.hosts[from].flows += 1;
            graph.hosts[to].flows += 1;
            *pairs.entry((graph.hosts[from].switch, graph.hosts[to].switch)).or_default() += 1;
        }
        for ((from, to), flows) in pairs {
            for switch in graph.path(from, to).into_iter().chain([from, to]) {
                graph.loads[switch] += flows;
            }
        }
        Some(graph)
    }

    /// The switches of a path with the fewest cables.
    fn path(&self, from: usize, to: usize) -> Vec<usize> {
        let mut before = BTreeMap::from([(from, from)]);
        let mut queue = VecDeque::from([from]);
        while let Some(here) = queue.pop_front() {
            for &(a, b, _) in &self.cables {
                for (near, far) in [(a, b), (b, a)] {
                    if near == here && !before.contains_key(&far) {
                        before.insert(far, here);
                        queue.push_back(far);
                    }
                }
            }
        }
        let mut path = vec![to];
        while let Some(&previous) = before.get(path.last().unwrap_or(&from))
            && path.last() != Some(&from)
        {
            path.push(previous);
        }
        path
    }

    /// The cluster of each switch, numbered in the order of the plan: a cable without delay keeps
    /// its switches in one.
    fn clusters(&self) -> Clusters {
        let mut least: Vec<usize> = (0..self.loads.len()).collect();
        let is_joined = |&&(_, _, delay): &&(usize, usize, Duration)| delay == Duration::ZERO;
        for _ in 0..least.len() {
            for &(a, b, _) in self.cables.iter().filter(is_joined) {
                let both = least[a].min(least[b]);
                (least[a], least[b]) = (both, both);
            }
        }
        Clusters(least)
    }
}

/// For each switch, the first switch of its cluster.
struct Clusters(Vec<usize>);

impl Clusters {
    fn len(&self) -> usize {
        self.0.iter().enumerate().filter(|&(switch, &first)| switch == first).count()
    }
}

/// The part of each switch: clusters in their order, each part with about the same load.
fn share_out(clusters: &Clusters, loads: &[u64], parts: usize) -> Vec<usize> {
    let mut of_cluster = vec![0; loads.len()];
    for (&first, load) in clusters.0.iter().zip(loads) {
        of_cluster[first] += load;
    }
    let total: u64 = loads.iter().sum();
    let (mut before, mut part, mut left) = (0, 0, clusters.len());
    let mut part_of = vec![0; loads.len()];
    for (switch, &first) in clusters.0.iter().enumerate() {
        if switch != first {
            part_of[switch] = part_of[first];
            continue;
        }
        // The next part begins where the middle of a cluster is past its share, or where each
        // cluster that is left must have a part.
        let middle = 2 * before + of_cluster[switch];
        let is_past = middle * parts as u64 >= 2 * total * (part as u64 + 1);
        let is_first = switch == 0;
        if !is_first && part + 1 < parts && (is_past || left < parts - part) {
            part += 1;
        }
        (before, left) = (before + of_cluster[switch], left - 1);
        part_of[switch] = part;
    }
    part_of
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_ms(1);

    /// Switches in a row with cables of these delays, and a host with a flow at each end.
    fn row(delays_ms: &[u64]) -> Graph {
        let last = delays_ms.len();
        let cables = delays_ms.iter().enumerate();
        let cables = cables.map(|(at, &delay)| (at, at + 1, Duration::from_ms(delay)));
        let host = |switch| GraphHost { switch, delay: MS, flows: 1 };
        Graph {
            cables: cables.collect(),
            hosts: vec![host(0), host(last)],
            loads: (0..=last as u64).map(|_| 2).collect(),
        }
    }

    #[test]
    fn one_switch_keeps_its_links_and_its_hosts_leave() {
        let cut = Cut::of(&row(&[]), 2).expect("two parts");
        assert_eq!(
            (&cut.switches[..], &cut.hosts[..], cut.first_of_hosts),
            (&[0][..], &[1, 1][..], 1)
        );
        assert_eq!(cut.before(0), [(1, Duration::ZERO)], "it follows the hosts");
        assert_eq!(cut.before(1), [(0, MS)]);
    }

    #[test]
    fn switches_in_a_row_share_the_parts_with_their_hosts() {
        let cut = Cut::of(&row(&[5, 10, 20]), 2).expect("two parts");
        assert_eq!((cut.switches.clone(), cut.hosts.clone()), (vec![0, 0, 1, 1], vec![0, 1]));
        assert_eq!(cut.before(0), [(1, Duration::from_ms(10))]);
        assert_eq!(cut.least_delay(), Duration::from_ms(10));
    }

    #[test]
    fn parts_that_are_left_take_the_hosts() {
        let cut = Cut::of(&row(&[5]), 4).expect("four parts");
        assert_eq!((cut.switches.clone(), cut.hosts.clone()), (vec![0, 1], vec![2, 3]));
        assert_eq!(cut.before(1), [(0, Duration::from_ms(5)), (3, Duration::ZERO)]);
    }

    #[test]
    fn a_cable_without_delay_is_never_cut() {
        let cut = Cut::of(&row(&[5, 0, 5]), 3).expect("three parts");
        assert_eq!(cut.switches, [0, 1, 1, 2]);
        let mut row = row(&[0, 0]);
        row.hosts.iter_mut().for_each(|host| host.delay = Duration::ZERO);
        assert_eq!(Cut::of(&row, 8), None);
    }
}
