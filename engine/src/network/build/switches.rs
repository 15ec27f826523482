//! The switches of a plan: programs, and the state that the controller wrote before the run.

use std::sync::Arc;

use narrows_common::Rng;
use narrows_switch::{Program, Switch};

use crate::error::{EngineError, plan_error};
use crate::network::nodes::SwitchNode;
use crate::network::programs;
use crate::plan::SwitchPlan;

pub(super) fn load_program(path: &str) -> Result<Arc<Program>, EngineError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| plan_error(format!("P4 program {path}: {error}")))?;
    programs::load(&text).map_err(|error| plan_error(format!("P4 program {path}: {error}")))
}

pub(super) fn build_switch(
    plan: &SwitchPlan,
    program: Arc<Program>,
    seed: u64,
) -> Result<SwitchNode, EngineError> {
    let failed =
        |error: &dyn std::fmt::Display| plan_error(format!("switch '{}': {error}", plan.name));
    let rng = Rng::for_component(seed, &plan.name);
    let mut switch =
        Switch::new(program, plan.config.clone(), rng).map_err(|error| failed(&error))?;
    for entry in &plan.entries {
        switch.insert_entry(entry).map_err(|error| failed(&error))?;
    }
    plan.clone_sessions.iter().for_each(|session| switch.set_clone_session(session.clone()));
    for group in &plan.multicast_groups {
        switch.set_multicast_group(group.id, &group.replicas);
    }
    for cell in &plan.registers {
        switch
            .write_register(&cell.register, cell.index, &cell.value)
            .map_err(|error| failed(&error))?;
    }
    Ok(switch_node(plan, switch))
}

pub(super) fn switch_node(plan: &SwitchPlan, switch: Switch) -> SwitchNode {
    let ports = plan.config.ports.iter().map(|port| usize::from(port.port) + 1).max().unwrap_or(0);
    SwitchNode { name: Arc::from(plan.name.as_str()), switch, cables: vec![None; ports] }
}
