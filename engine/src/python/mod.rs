//! `narrows._engine`: the Python interface to the engine. No other module uses PyO3.

mod catalogue;
mod connection;
mod ending;
mod errors;
mod generate;
mod ledger;
mod live;
mod progress;
mod run;
mod setup;
mod sockets;
mod stf;
mod switch;
mod tables;
mod watch;

use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::variants, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::senders, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::recoveries, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::profiles, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::workloads, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::disciplines, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::drop_reasons, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::mark_reasons, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::agents, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::sinks, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::version, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::application_messages, module)?)?;
    module.add_function(wrap_pyfunction!(tables::write_table, module)?)?;
    module.add_function(wrap_pyfunction!(tables::write_columns, module)?)?;
    module.add_function(wrap_pyfunction!(stf::run_stf, module)?)?;
    module.add_function(wrap_pyfunction!(stf::stf_sent, module)?)?;
    module.add_class::<switch::PySwitch>()?;
    module.add_class::<connection::PyConnection>()?;
    module.add_class::<live::PyLive>()?;
    module.add_class::<watch::PyWatch>()?;
    module.add_class::<ledger::PyLedger>()?;
    module.add_class::<sockets::PySockets>()?;
    module.add_function(wrap_pyfunction!(live::keep_capabilities, module)?)?;
    module.add_function(wrap_pyfunction!(ending::end_in_time, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::dpdk_version, module)?)?;
    module.add_function(wrap_pyfunction!(run::run_real_time, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    let py = module.py();
    module.add("PlanError", py.get_type::<errors::PlanError>())?;
    module.add("DeviceError", py.get_type::<errors::DeviceError>())?;
    module.add("RunError", py.get_type::<errors::RunError>())?;
    module.add("Cancelled", py.get_type::<errors::Cancelled>())
}
