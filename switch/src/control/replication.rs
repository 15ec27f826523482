//! Clone sessions and multicast groups.

use crate::state::{CloneSession, Replica};
use crate::switch::Switch;
use std::sync::Arc;

impl Switch {
    /// Sets a clone session; an empty list of replicas removes it.
    pub fn set_clone_session(&mut self, session: CloneSession) {
        if session.replicas.is_empty() {
            self.model.machine.state.clone_sessions.remove(&session.id);
        } else {
            self.model.machine.state.clone_sessions.insert(session.id, Arc::new(session));
        }
    }

    /// Sets a multicast group; an empty list of replicas removes it.
    pub fn set_multicast_group(&mut self, id: u32, replicas: &[Replica]) {
        if replicas.is_empty() {
            self.model.machine.state.multicast_groups.remove(&id);
        } else {
            self.model.machine.state.multicast_groups.insert(id, replicas.into());
        }
    }
}
