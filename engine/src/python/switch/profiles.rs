//! Action profiles and idle time-outs of `narrows._engine.Switch`.

use narrows_common::Duration;
use narrows_switch::{ProfileGroup, ProfileMember, TableEntry};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use super::convert::{entry_to_python, from_python};
use super::object::PySwitch;
use crate::network::managed_switch::refusal::Refusal;

/// A member or group identified by its number.
#[derive(Deserialize)]
struct Name {
    profile: String,
    id: u64,
}

fn unknown(what: &str) -> Refusal {
    Refusal::new("invalid-argument", format!("'{what}': expected insert, modify or delete"))
}

impl PySwitch {
    /// Inserts, modifies or deletes a `member` or a group.
    pub(super) fn write_profile_of(
        &self,
        py: Python<'_>,
        operation: String,
        kind: &str,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if operation == "delete" {
            let Name { profile, id } = from_python(given)?;
            let is_member = kind == "member";
            return self.with_each(py, move |pipeline| {
                let switch = pipeline.switch()?;
                match is_member {
                    true => Ok(switch.delete_member(&profile, id)?),
                    false => Ok(switch.delete_group(&profile, id)?),
                }
            });
        }
        if kind == "member" {
            let member: ProfileMember = from_python(given)?;
            return self.with_each(py, move |pipeline| {
                let switch = pipeline.switch()?;
                match operation.as_str() {
                    "insert" => Ok(switch.insert_member(&member)?),
                    "modify" => Ok(switch.modify_member(&member)?),
                    other => Err(unknown(other)),
                }
            });
        }
        let group: ProfileGroup = from_python(given)?;
        self.with_each(py, move |pipeline| {
            let switch = pipeline.switch()?;
            match operation.as_str() {
                "insert" => Ok(switch.insert_group(&group)?),
                "modify" => Ok(switch.modify_group(&group)?),
                other => Err(unknown(other)),
            }
        })
    }

    /// Sets an entry's idle time-out; None disables it.
    pub(super) fn set_idle_timeout_of(
        &self,
        py: Python<'_>,
        entry: &Bound<'_, PyAny>,
        timeout_ns: Option<u64>,
    ) -> PyResult<()> {
        let entry: TableEntry = from_python(entry)?;
        let too_long = || Refusal::new("out-of-range", "the idle time-out is above 213 days");
        let timeout = match timeout_ns {
            Some(ns) => Some(ns.checked_mul(1000).ok_or_else(too_long)?),
            None => None,
        };
        self.with(py, move |pipeline| {
            let now = pipeline.now;
            let timeout = timeout.map(Duration::from_ps);
            Ok(pipeline.switch()?.set_idle_timeout(now, &entry, timeout)?)
        })
    }

    /// An entry's idle time-out, and the time since its last hit.
    pub(super) fn idle_ns_of(
        &self,
        py: Python<'_>,
        entry: &Bound<'_, PyAny>,
    ) -> PyResult<(Option<u64>, u64)> {
        let entry: TableEntry = from_python(entry)?;
        self.with_all(py, move |pipelines| {
            let now = pipelines.now();
            let switch = pipelines.switch_with_hits()?;
            let timeout = switch.idle_timeout(&entry)?.map(|timeout| timeout.as_ps() / 1000);
            Ok((timeout, switch.since_hit(now, &entry)?.as_ps() / 1000))
        })
    }

    /// Entries idle for longer than their time-out, each reported once.
    pub(super) fn expired<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let entries = self.with_all(py, |pipelines| Ok(pipelines.take_expired()))?;
        entries.iter().map(|entry| entry_to_python(py, entry)).collect()
    }
}
