//! `narrows._engine.generate`: background traffic sent by a DPDK port.

use std::sync::Mutex;
use std::thread;
use std::time::Duration as Wait;

use narrows_common::Time;
use narrows_dpdk::{Clock, Offloads, Port};
use pyo3::prelude::*;

use super::errors::run_result;
use super::progress::{lock, watch};
use super::setup::{Setup, wait_for_links};
use crate::error::EngineError;
use crate::network::Progress;
use crate::network::build::read_plan;

use crate::real_time::{DataPath, Generator, Stream, Verdict, Wire, generate as send};

/// How long a port stays open after its last packet. A memif's peer reads the packet from memory
/// that is freed with the port.
const LINGER: Wait = Wait::from_millis(100);

/// Sends the messages that the plan's applications write before `until_ps`, at most `most`, as UDP
/// packets by a DPDK device. `streams` lists headers, payload bytes and flow numbers of each
/// stream. `progress` is as for `run`. Returns packets by stream, duration and the instrument's
/// error.
///
/// Raises PlanError, DeviceError, RunError or Cancelled.
#[pyfunction]
#[pyo3(signature = (plan_json, streams, device, setup_json, until_ps, most=u64::MAX, progress=None))]
#[expect(clippy::too_many_arguments, reason = "by name, from Python")]
pub(crate) fn generate<'py>(
    py: Python<'py>,
    plan_json: &str,
    streams: Vec<(Vec<u8>, u32, Vec<u32>)>,
    device: &str,
    setup_json: &str,
    until_ps: u64,
    most: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let setup = Setup::read(setup_json)?;
    let named = |(headers, payload_bytes, flows)| Stream { headers, payload_bytes, flows };
    let streams = streams.into_iter().map(named).collect();
    let state = Mutex::new((Progress::default(), Verdict::GoOn));
    let mut raised = None;
    let outcome = py.detach(|| {
        let plan = read_plan(plan_json)?;
        let generator = Generator::new(&plan, streams, Time::from_ps(until_ps), most)?;
        thread::scope(|scope| {
            let path = scope.spawn(|| {
                let (eal, pool) = setup.start()?;
                let port = Port::open(eal, device, pool, Offloads::default())?;
                let wire = Wire::new("port".to_owned(), port, pool);
                let mut path = DataPath::new(Clock::start(eal), setup.idle(1), vec![wire]);
                wait_for_links(&mut path, &state)?;
                path.begin(eal, None);
                let mut goes_on = |now: &Progress| {
                    // The data path does not wait for the thread that reads the state.
                    state.try_lock().map_or(true, |mut state| {
                        state.0 = *now;
                        state.1 != Verdict::Cancel
                    })
                };
                let done = send(&mut path, generator, &mut goes_on);
                thread::sleep(LINGER);
                done
            });
            watch(&path, &state, progress.as_ref()).unwrap_or_else(|error| {
                lock(&state).1 = Verdict::Cancel;
                raised = Some(error);
            });
            path.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    let outcome: Result<_, EngineError> = outcome;
    run_result(py, outcome, raised)
}
