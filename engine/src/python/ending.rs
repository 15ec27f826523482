//! The end of a daemon in time, whatever Python does.
//!
//! Python's handler of signals runs between two of its instructions, so not while one of them takes
//! long, or waits while it holds Python's lock. But its part in C writes a byte to a file at once.
//! A thread that never takes that lock reads it, and ends the process at the deadline.

use std::io::{Read, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::progress::lock;

/// Where files are written until the process ends.
pub(super) trait Closing: Send + Sync {
    /// Closes them, so that readers find them whole. Any thread may call it, and again.
    fn close(&self);
}

/// What is open; an owner that has ended is gone.
static OPEN: Mutex<Vec<Weak<dyn Closing>>> = Mutex::new(vec![]);

/// Has `files` closed if the process is ended.
pub(super) fn close_at_end(files: &Arc<impl Closing + 'static>) {
    let files: Arc<dyn Closing> = files.clone();
    let mut open = lock(&OPEN);
    open.retain(|each| each.strong_count() > 0);
    open.push(Arc::downgrade(&files));
}

/// Waits for a byte, passes it on, and ends the process `end_s` later with status 0. `close_s`
/// after the byte it begins to close the tables that are open. Returns the file descriptors that
/// are the caller's: the one to write the byte to, and the one to read it from.
///
/// Raises OSError.
#[pyfunction]
pub(crate) fn end_in_time(close_s: f64, end_s: f64) -> PyResult<(i32, i32)> {
    let (told, tell) = UnixStream::pair()?;
    let (passed_on, pass_on) = UnixStream::pair()?;
    let close = Duration::from_secs_f64(close_s);
    let end = Duration::from_secs_f64(end_s);
    thread::Builder::new().name("end".to_owned()).spawn(move || wait(told, pass_on, close, end))?;
    Ok((tell.into_raw_fd(), passed_on.into_raw_fd()))
}

fn wait(mut told: UnixStream, mut pass_on: UnixStream, close: Duration, end: Duration) {
    let mut number = [0];
    if told.read_exact(&mut number).is_err() {
        return;
    }
    let begin = Instant::now();
    // A reader that has gone needs no word.
    let _ = pass_on.write_all(&number);
    thread::sleep(close);
    let (closed, all_closed) = channel();
    let open: Vec<_> = lock(&OPEN).iter().filter_map(Weak::upgrade).collect();
    let close_all = move || {
        open.iter().for_each(|files| files.close());
        let _ = closed.send(());
    };
    // Not on this thread, which a file on a slow disk must not hold up.
    if thread::Builder::new().name("close".to_owned()).spawn(close_all).is_ok() {
        let _ = all_closed.recv_timeout(end.saturating_sub(begin.elapsed()));
    }
    thread::sleep(end.saturating_sub(begin.elapsed()));
    narrows_dpdk::exit_now(0)
}
