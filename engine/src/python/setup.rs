//! DPDK's configuration as Python passes it: memory, pool, idle strategy, links.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use narrows_dpdk::{Eal, EalConfig, Idle, IdleKind, Mempool};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use super::progress::lock;
use crate::error::EngineError;
use crate::network::Progress;
use crate::real_time::{DataPath, Verdict};

/// How long to wait for the other end of a wire.
const LINK_WAIT: Duration = Duration::from_secs(30);
/// How often to check links before a run.
const LINK_INTERVAL: Duration = Duration::from_millis(100);
/// The most bytes of a frame in one mbuf.
const FRAME_BYTES: u32 = 2048;

/// DPDK's configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    hugepages: bool,
    memory_mib: u32,
    pci: bool,
    /// The number of mbufs in the pool that all ports share.
    mbufs: u32,
    /// `poll`, `yield`, or a choice by the number of cores.
    idle: Option<IdleName>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum IdleName {
    Poll,
    Yield,
}

impl Setup {
    pub(super) fn read(json: &str) -> PyResult<Setup> {
        serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("live: {error}")))
    }

    pub(super) fn start(&self) -> Result<(Eal, Mempool), narrows_dpdk::Error> {
        let config =
            EalConfig { hugepages: self.hugepages, memory_mib: self.memory_mib, pci: self.pci };
        let eal = Eal::start(&config)?;
        Ok((eal, Mempool::new(eal, self.mbufs, FRAME_BYTES)?))
    }

    /// The idle strategy for this many loops.
    pub(super) fn idle(&self, loops: usize) -> Idle {
        Idle::new(match self.idle {
            Some(IdleName::Poll) => IdleKind::Poll,
            Some(IdleName::Yield) => IdleKind::Yield,
            None => IdleKind::choose(loops),
        })
    }
}

/// Waits until every wire has a link.
pub(super) fn wait_for_links(
    path: &mut DataPath,
    state: &Mutex<(Progress, Verdict)>,
) -> Result<(), EngineError> {
    let end = Instant::now() + LINK_WAIT;
    while let Some(wire) = path.check_links() {
        if lock(state).1 == Verdict::Cancel {
            return Err(EngineError::Cancelled);
        }
        if Instant::now() >= end {
            return Err(EngineError::Meet(format!(
                "{}: device '{}' had no link for {} s: its other end did not come up",
                wire.name(),
                wire.device(),
                LINK_WAIT.as_secs()
            )));
        }
        thread::sleep(LINK_INTERVAL);
    }
    Ok(())
}
