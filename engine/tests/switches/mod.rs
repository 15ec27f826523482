//! Managed switches with their pipelines, for tests and benchmarks.

use std::sync::Arc;

use narrows_engine::network::managed_switch::ManagedSwitch;
use narrows_engine::network::managed_switch::config::Config;
use narrows_engine::network::managed_switch::packet_ins::CpuLimit;
use narrows_engine::network::managed_switch::pipelines::{Pipelines, pipelines};
use narrows_queueing::PortConfig;
use narrows_switch::{Program, Switch, SwitchConfig};

use crate::common;

/// The pipelines of a switch with these ports that runs a program and records no queue. `set_up`
/// configures each pipeline.
pub fn running(
    program: &Arc<Program>,
    ports: Vec<PortConfig>,
    set_up: impl Fn(&mut Switch),
) -> Vec<ManagedSwitch> {
    let switch = SwitchConfig { flow_field: None, record_queue: false, ..common::config(ports) };
    let mut made = pipelines(
        &Config {
            switch,
            cpu_port: None,
            cpu_limit: CpuLimit::default(),
            name: "switch".to_owned(),
        },
        1,
    );
    let mut all = Pipelines::new(&mut made);
    let each = all.configs();
    let switches = each.iter().map(|(config, seed)| config.build_of(program, *seed));
    all.install(switches.collect::<Result<_, _>>().expect("it loads")).expect("its ports");
    for pipeline in &mut made {
        set_up(pipeline.switch().expect("it has a program"));
    }
    made
}
