//! The commands of simple_switch_CLI that a test may use.

use super::runner::Runner;
use super::words::{ends_in, meter_config};
use crate::state::{CloneSession, Count, Replica};
use std::collections::BTreeMap;

/// The `i`-th word as a number.
fn number(words: &[&str], i: usize) -> Result<u32, String> {
    let word = words.get(i).copied().unwrap_or("");
    word.parse().map_err(|_| format!("'{word}': expected a number"))
}

impl Runner {
    /// Executes a command.
    pub(super) fn command(
        &mut self,
        line: usize,
        command: &str,
        words: &[&str],
    ) -> Result<(), String> {
        match command {
            _ if command.starts_with("mirroring") || command.starts_with("mc_") => {
                self.replication_command(command, words)
            }
            _ if command.starts_with("meter") => self.meter_command(command, words),
            _ => self.cell_command(line, command, words),
        }
    }

    /// Clone sessions and multicast groups.
    fn replication_command(&mut self, command: &str, words: &[&str]) -> Result<(), String> {
        let name = words.first().copied().unwrap_or("");
        let number = |i: usize| number(words, i);
        match command {
            "mirroring_get" => {
                match self.switch.model.machine.state.clone_sessions.contains_key(&number(0)?) {
                    true => Ok(()),
                    false => Err(format!("there is no clone session {name}")),
                }
            }
            "mirroring_add" => {
                let port = u16::try_from(number(1)?).map_err(|_| "no such port".to_owned())?;
                let replicas = vec![Replica { port, rid: 0 }];
                let id = number(0)?;
                self.switch.set_clone_session(CloneSession { id, replicas, truncate_bytes: None });
                Ok(())
            }
            "mirroring_add_mc" => {
                self.mirrored.insert(number(0)?, number(1)?);
                self.multicast();
                Ok(())
            }
            "mirroring_delete" => {
                let id = number(0)?;
                self.mirrored.remove(&id);
                let replicas = vec![];
                self.switch.set_clone_session(CloneSession { id, replicas, truncate_bytes: None });
                Ok(())
            }
            "mc_mgrp_create" => {
                self.groups.insert(number(0)?, vec![]);
                Ok(())
            }
            "mc_node_create" => {
                let short = |i: usize| match u16::try_from(number(i)?) {
                    Ok(number) => Ok(number),
                    Err(_) => Err(format!("'{}': expected at most 65535", words[i])),
                };
                let rid = short(0)?;
                let ports = (1..words.len()).map(|i| Ok(Replica { port: short(i)?, rid }));
                self.nodes.push(ports.collect::<Result<_, String>>()?);
                Ok(())
            }
            "mc_node_associate" => {
                let (group, node) = (number(0)?, number(1)? as usize);
                if node >= self.nodes.len() {
                    return Err(format!("there is no node {node}"));
                }
                let group = self.groups.get_mut(&group);
                group.ok_or("there is no such group")?.push(node);
                self.multicast();
                Ok(())
            }
            _ => Err(format!("'{command}' is not supported in this form")),
        }
    }

    /// Registers and counters.
    fn cell_command(&mut self, line: usize, command: &str, words: &[&str]) -> Result<(), String> {
        let name = words.first().copied().unwrap_or("");
        let number = |i: usize| number(words, i);
        match command {
            "register_write" => {
                let value = words.get(2).copied().unwrap_or("");
                let index = u64::from(number(1)?);
                self.switch.write_register(name, index, value).map_err(|e| e.to_string())
            }
            "register_read" => {
                let read = self.switch.read_register_hex(name, u64::from(number(1)?));
                read.map(drop).map_err(|error| error.to_string())
            }
            "counter_read" => {
                let read = self.switch.read_counter(name, u64::from(number(1)?));
                read.map(drop).map_err(|error| error.to_string())
            }
            "counter_write" => {
                let (index, packets) = (u64::from(number(1)?), u64::from(number(2)?));
                let count = Count { packets, bytes: u64::from(number(3)?) };
                self.switch.write_counter(name, index, count).map_err(|e| e.to_string())
            }
            "register_reset" => {
                let mut index = 0;
                while self.switch.read_register_hex(name, index).is_ok() {
                    self.switch.write_register(name, index, "0").map_err(|e| e.to_string())?;
                    index += 1;
                }
                Ok(())
            }
            _ => self.command_of_profiles(line, command, words),
        }
    }

    /// Meters.
    fn meter_command(&mut self, command: &str, words: &[&str]) -> Result<(), String> {
        match command {
            "meter_get_rates" => {
                let name = words.first().copied().unwrap_or("");
                let meters = self.switch.model.program.meters.iter();
                let names: Vec<&str> = meters.map(|meter| meter.name.as_str()).collect();
                ends_in(&names, name).map(drop).ok_or(format!("there is no meter '{name}'"))
            }
            "meter_set_rates" | "meter_array_set_rates" => {
                self.set_rates(command == "meter_set_rates", words)
            }
            _ => Err(format!("'{command}' is not supported in this form")),
        }
    }

    /// Configures one meter of an array, or all.
    fn set_rates(&mut self, single: bool, words: &[&str]) -> Result<(), String> {
        let name = words.first().copied().unwrap_or("");
        let rates = &words[(1 + usize::from(single)).min(words.len())..];
        let config = meter_config(rates)?;
        let (mut index, mut error) = (if single { u64::from(number(words, 1)?) } else { 0 }, None);
        loop {
            let set = self.switch.configure_meter(self.now, name, index, Some(config));
            match set {
                Err(refused) if single || index == 0 => error = Some(refused.to_string()),
                Ok(()) if !single => {
                    index += 1;
                    continue;
                }
                _ => {}
            }
            return error.map_or(Ok(()), Err);
        }
    }

    /// Updates the multicast groups and the clone sessions that use them.
    fn multicast(&mut self) {
        let replicas = |nodes: &[usize]| -> Vec<Replica> {
            nodes.iter().flat_map(|&node| self.nodes[node].iter().copied()).collect()
        };
        let groups: BTreeMap<u32, Vec<Replica>> =
            self.groups.iter().map(|(&id, nodes)| (id, replicas(nodes))).collect();
        for (&id, replicas) in &groups {
            self.switch.set_multicast_group(id, replicas);
        }
        for (&id, group) in &self.mirrored {
            let replicas = groups.get(group).cloned().unwrap_or_default();
            self.switch.set_clone_session(CloneSession { id, replicas, truncate_bytes: None });
        }
    }
}
