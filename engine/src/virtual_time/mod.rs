//! Virtual time: a run advances from event to event as fast as the machine can.

mod collector;
mod threads;

use std::collections::BTreeMap;
use std::path::Path;

use narrows_common::Time;
use narrows_switch::Switch;

use crate::error::EngineError;
use crate::network::build::read_plan;
use crate::network::control::Watcher;
use crate::network::parts::cut::Cut;
use crate::network::socket_hosts::SocketHosts;
use crate::network::{Network, Progress};
use crate::record::summary::Summary;

/// Events between two calls of a run's watcher.
const WATCH_STRIDE: u64 = 64;

/// Runs a plan, writes its tables and `summary.json` into `directory`, and returns the summary.
///
/// A controller has already set up the switches in `ready`, listed by name. The run uses them as
/// they are and writes none of the plan's entries, sessions and registers to them. With `cores`,
/// the path of Verilator's library, a core is at each port with a rate. `progress` is called every
/// few thousand events; it stops the run by returning false. `watcher` is called every few dozen.
///
/// The run uses at most so many `threads`. It uses one if it ends with its last flow, or has cores
/// or a watcher, or if no link with a delay is between its nodes. The results are the same.
///
/// # Errors
/// See [`EngineError`].
pub fn run(
    plan_json: &str,
    directory: &Path,
    ready: BTreeMap<String, Switch>,
    cores: Option<&Path>,
    threads: usize,
    progress: &mut dyn FnMut(&Progress) -> bool,
    watcher: Option<Watcher<'_>>,
) -> Result<Summary, EngineError> {
    let plan = read_plan(plan_json)?;
    let (end, until_complete) = plan.end();
    let is_alone = until_complete || cores.is_some() || watcher.is_some();
    let cut = if is_alone { None } else { Cut::new(&plan, threads) };
    let mut network = Network::build(plan, ready, SocketHosts::default(), directory)?;
    if let Some(library) = cores {
        network.use_cores(library)?;
    }
    if let Some(cut) = cut {
        let stopped = threads::advance(&mut network, &cut, end, progress);
        return network.finish(stopped, until_complete, None, directory);
    }
    network.arm();
    let stopped = advance(&mut network, end, until_complete, progress, watcher);
    network.finish(stopped, until_complete, None, directory)
}

/// Advances to `end`; or, if `until_complete` is set, until every finite flow has finished. Returns
/// when the run stopped.
fn advance(
    network: &mut Network,
    end: Time,
    until_complete: bool,
    progress: &mut dyn FnMut(&Progress) -> bool,
    mut watcher: Option<Watcher<'_>>,
) -> Result<Time, EngineError> {
    let mut last = Time::ZERO;
    let (_, mut next_collection) = network.collections_around(Time::ZERO);
    loop {
        let (now, source) = network.next();
        if now > end {
            break;
        }
        debug_assert!(now >= last, "time went backwards");
        if now >= next_collection {
            network.drain_records()?;
            network.progress().now = now;
            if !progress(network.progress()) {
                return Err(EngineError::Cancelled);
            }
            (_, next_collection) = network.collections_around(now);
        }
        last = now;
        network.act(now, source)?;
        if let Some(watcher) = &mut watcher
            && network.progress().events % WATCH_STRIDE == 0
        {
            watcher(now, network);
        }
        if until_complete && network.is_complete() {
            break;
        }
    }
    network.drain_records()?;
    let stopped = if until_complete || end == Time::MAX { last } else { end };
    network.progress().now = stopped;
    progress(network.progress());
    Ok(stopped)
}
