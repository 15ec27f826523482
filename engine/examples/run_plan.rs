//! Runs a plan without Python, for a profiler: `run_plan PLAN DIRECTORY [THREADS]`.
//!
//! The plan's paths, such as its P4 programs, are relative to the working directory. With
//! callgrind:
//!
//! ```sh
//! cargo build --release --package narrows-engine --example run_plan
//! valgrind --tool=callgrind target/release/examples/run_plan plan.json out
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use narrows_engine::virtual_time;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(plan), Some(directory)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: run_plan PLAN DIRECTORY [THREADS]");
        return ExitCode::FAILURE;
    };
    let threads = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(1);
    let run = std::fs::read_to_string(&plan).map_err(|error| error.to_string()).and_then(|plan| {
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        virtual_time::run(&plan, &directory, BTreeMap::new(), None, threads, &mut |_| true, None)
            .map_err(|error| error.to_string())
    });
    match run {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("run_plan: {}: {error}", plan.display());
            ExitCode::FAILURE
        }
    }
}
