//! Progress callbacks, and the state that a data path's thread shares with the Python thread.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use narrows_common::Time;
use pyo3::prelude::*;

use crate::network::Progress;
use crate::real_time::Verdict;

/// How often the progress callback is called, in wall-clock time.
pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// How often the watching thread checks for the end of a run.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);

/// Calls the progress callback, if any, and returns its result.
pub(super) fn call_progress(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    state: &Progress,
) -> PyResult<Option<Py<PyAny>>> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(None) };
    progress.call1(py, (pythonize::pythonize(py, state)?,)).map(Some)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the progress callback until the data path ends.
pub(super) fn watch<T>(
    path: &ScopedJoinHandle<'_, T>,
    state: &Mutex<(Progress, Verdict)>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let mut next = Instant::now();
    while !path.is_finished() {
        thread::sleep(WATCH_INTERVAL);
        if Instant::now() < next {
            continue;
        }
        next = Instant::now() + PROGRESS_INTERVAL;
        let now = lock(state).0;
        let verdict = Python::attach(|py| -> PyResult<Verdict> {
            let Some(returned) = call_progress(py, progress, &now)? else {
                return Ok(Verdict::GoOn);
            };
            Ok(match returned.extract::<bool>(py) {
                Ok(true) => Verdict::GoOn,
                Ok(false) => Verdict::Cancel,
                Err(_) => Verdict::End(Time::from_ps(returned.extract(py)?)),
            })
        })?;
        lock(state).1 = verdict;
    }
    Ok(())
}
