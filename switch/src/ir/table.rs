//! Tables as the program declares them, and their actions.

use super::field_match::FieldMatch;
use super::op::Pc;
use super::slot::Slot;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchKind {
    Exact,
    Lpm,
    Ternary,
    Range,
}

#[derive(Clone, Debug)]
pub(crate) struct KeyField {
    pub name: String,
    pub kind: MatchKind,
    pub width: u32,
    /// The program's constant mask, in limbs.
    pub mask: Option<Vec<u64>>,
    /// The key word in which it begins, and its shift there; a wide field has its own words.
    pub word: u16,
    pub shift: u8,
}

/// One step of gathering a key: `words[word] |= (slot & mask) << shift`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyLoad {
    pub slot: Slot,
    pub word: u16,
    pub shift: u8,
    pub mask: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub name: String,
    pub kind: MatchKind,
    pub key: Vec<KeyField>,
    pub loads: Vec<KeyLoad>,
    pub words: u16,
    pub max_size: u64,
    pub actions: Vec<u16>,
    /// The next node, by index into `actions`.
    pub next: Vec<Pc>,
    pub on_hit: Option<Pc>,
    pub on_miss: Option<Pc>,
    pub base_next: Pc,
    pub default: Option<(u16, Vec<u64>)>,
    pub default_fixed: bool,
    pub counted: bool,
    pub meter: Option<u16>,
    /// The action profile that its entries refer to.
    pub profile: Option<u16>,
    /// Whether entries may have idle time-outs.
    pub idle: bool,
    pub entries: Option<Vec<ConstEntry>>,
    /// The most limbs of an entry's parameters.
    pub stride: u16,
}

/// Members and groups of actions, possibly shared by several tables.
#[derive(Clone, Debug)]
pub(crate) struct ActionProfile {
    pub name: String,
    pub max_size: u64,
    /// The calculation whose hash selects a group's member; without it there are no groups.
    pub selector: Option<u16>,
}

/// The action of an entry that runs a member of its table's action profile.
pub(crate) const MEMBER: &str = "$member";
/// The action of an entry that runs a member of a group.
pub(crate) const GROUP: &str = "$group";

#[derive(Clone, Debug)]
pub(crate) struct ConstEntry {
    pub matches: Vec<FieldMatch>,
    pub priority: i32,
    pub action: u16,
    pub data: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub code: Pc,
    /// Limbs of all its parameters.
    pub limbs: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub width: u32,
}

impl Table {
    /// The node after this table, if `action` ran on a hit or a miss.
    pub(crate) fn after(&self, action: u16, hit: bool) -> Pc {
        let chosen = if hit { self.on_hit } else { self.on_miss };
        if let Some(next) = chosen {
            return next;
        }
        // If the program gives only one of the two, the other ends the control.
        if self.on_hit.is_some() || self.on_miss.is_some() {
            return 0;
        }
        let position = self.actions.iter().position(|&known| known == action);
        position.map_or(self.base_next, |i| self.next[i])
    }

    /// The node after a member's action. The action may be another table's of the same name.
    pub(crate) fn after_member(&self, actions: &[Action], action: u16) -> Pc {
        let name = |action: u16| actions[action as usize].name.as_str();
        let same = |&&known: &&u16| known == action || name(known) == name(action);
        self.after(self.actions.iter().find(same).copied().unwrap_or(action), true)
    }

    /// The node after a miss of a table without a default action.
    pub(crate) fn after_nothing(&self) -> Pc {
        self.on_miss.unwrap_or(self.base_next)
    }
}
