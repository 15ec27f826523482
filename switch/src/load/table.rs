//! Tables: keys, actions and the program's own entries.

use super::error::LoadError;
use super::json::{EntryKey, Table as JsonTable};
use super::loader::Loader;
use super::value::Value;
use crate::ir::{
    ConstEntry, Field, FieldMatch, Integer, KeyField, KeyLoad, MatchKind, NOWHERE, Table, limbs,
    mask,
};

impl Loader<'_> {
    /// Reads a table, except its next nodes.
    pub(super) fn table(&mut self, table: &JsonTable) -> Result<Table, LoadError> {
        let kind = self.match_kind(&table.match_type)?;
        let (key, loads, words) = self.key(table)?;
        let mut actions = self.table_actions(table)?;
        let most = actions.iter().map(|&action| self.program.actions[action as usize].limbs);
        let stride = most.max().unwrap_or(0).max(1);
        let profile = self.table_profile(table)?;
        if let Some(profile) = profile {
            actions.extend(self.choices(profile));
        }
        let (mut default, mut default_fixed) = (None, false);
        if let Some(entry) = &table.default_entry {
            let action = self.entry_action(entry.action_id, &actions)?;
            let fixed = entry.action_const || entry.action_entry_const;
            // The control plane supplies parameters that a constant action leaves open.
            let parameters = self.program.actions[action as usize].parameters.len();
            if entry.action_data.len() == parameters {
                let data = self.action_data(action, &entry.action_data)?;
                default = Some((action, data));
                default_fixed = fixed;
            } else if !entry.action_data.is_empty() {
                return Err(self.names.malformed(
                    "default_entry",
                    format!("{parameters} parameters"),
                    &entry.action_data,
                ));
            }
        }
        let meter = match &table.direct_meters {
            Some(name) => Some(self.names.meter(name)?),
            None => None,
        };
        let entries = match &table.entries {
            Some(entries) if !entries.is_empty() => {
                let mut found = vec![];
                for entry in entries {
                    let action = self.entry_action(entry.action_entry.action_id, &actions)?;
                    let data = self.action_data(action, &entry.action_entry.action_data)?;
                    let matches = self.entry_matches(&key, &entry.match_key)?;
                    // In the JSON the smaller number wins; here the larger one wins.
                    let bounded = entry.priority.clamp(0, i64::from(i32::MAX)) as i32;
                    let priority = i32::MAX - bounded;
                    found.push(ConstEntry { matches, priority, action, data });
                }
                Some(found)
            }
            _ => None,
        };
        Ok(Table {
            name: table.name.clone(),
            kind,
            key,
            loads,
            words,
            max_size: table.max_size,
            next: vec![0; actions.len()],
            actions,
            on_hit: None,
            on_miss: None,
            base_next: 0,
            default,
            default_fixed,
            counted: table.with_counters,
            meter,
            profile,
            idle: table.support_timeout,
            entries,
            stride,
        })
    }

    fn match_kind(&self, name: &str) -> Result<MatchKind, LoadError> {
        match name {
            "exact" | "valid" => Ok(MatchKind::Exact),
            "lpm" => Ok(MatchKind::Lpm),
            "ternary" | "optional" => Ok(MatchKind::Ternary),
            "range" => Ok(MatchKind::Range),
            other => Err(self.names.unsupported("the match type", other)),
        }
    }

    /// Packs the key's fields into words; a field of more than 64 bits has words of its own.
    fn key(&self, table: &JsonTable) -> Result<(Vec<KeyField>, Vec<KeyLoad>, u16), LoadError> {
        let (mut fields, mut loads) = (vec![], vec![]);
        // The next free bit.
        let mut end = 0u32;
        for key in &table.key {
            let kind = self.match_kind(&key.match_type)?;
            let (slot, width, default_name) = self.key_target(&key.target)?;
            let in_word = end % 64;
            if in_word != 0 && in_word + width > 64 {
                end = end.next_multiple_of(64);
            }
            let (word, shift) = ((end / 64) as u16, (end % 64) as u8);
            let mask_limbs = match &key.mask {
                None => None,
                Some(text) => match Integer::from_hex(text).and_then(|m| m.to_width(width)) {
                    Some(limbs) => Some(limbs),
                    None => {
                        let expected = format!("a number of {width} bits");
                        return Err(self.names.malformed("key mask", expected, text));
                    }
                },
            };
            for limb in 0..limbs(width) {
                let keep = mask(width - u32::from(limb) * 64);
                let keep = mask_limbs.as_ref().map_or(keep, |m| m[limb as usize] & keep);
                loads.push(KeyLoad { slot: slot + limb, word: word + limb, shift, mask: keep });
            }
            end += width;
            if width > 64 {
                end = end.next_multiple_of(64);
            }
            let name = key.name.clone().unwrap_or(default_name);
            fields.push(KeyField { name, kind, width, mask: mask_limbs, word, shift });
        }
        if end > 1 << 14 {
            return Err(self.names.too_big(format!("a key of {end} bits")));
        }
        Ok((fields, loads, end.div_ceil(64) as u16))
    }

    fn key_target(&self, target: &Value) -> Result<(u16, u32, String), LoadError> {
        let (header, field) = match target {
            Value::String(header) => (&**header, "$valid$"),
            _ => (self.names.string(&target[0])?, self.names.string(&target[1])?),
        };
        let name = format!("{header}.{field}");
        let header = self.names.header(header)?;
        if field == "$valid$" {
            self.real_header(header)?;
            return Ok((self.program.headers[header as usize].valid(), 1, name));
        }
        let field = self.names.header_field(header, field)?;
        let field: &Field = &self.program.headers[header as usize].fields[field as usize];
        if field.varbit || field.slot == NOWHERE {
            return Err(self.names.unsupported("as a key, the field", name));
        }
        Ok((field.slot, field.width, name))
    }

    fn table_actions(&self, table: &JsonTable) -> Result<Vec<u16>, LoadError> {
        let by_id = |id: &u64| match self.action_ids.get(id) {
            Some(&action) => Ok(action),
            None => Err(self.names.unknown("action with id", id)),
        };
        let by_name = |name: &String| match self
            .program
            .actions
            .iter()
            .position(|action| action.name == *name)
        {
            Some(action) => Ok(action as u16),
            None => Err(self.names.unknown("action", name)),
        };
        match &table.action_ids {
            Some(ids) => ids.iter().map(by_id).collect(),
            None => table.actions.iter().map(by_name).collect(),
        }
    }

    fn entry_action(&self, id: u64, actions: &[u16]) -> Result<u16, LoadError> {
        match self.action_ids.get(&id) {
            Some(action) if actions.contains(action) => Ok(*action),
            _ => Err(self.names.unknown("action of this table with id", id)),
        }
    }

    fn action_data(&self, action: u16, data: &[String]) -> Result<Vec<u64>, LoadError> {
        let parameters = &self.program.actions[action as usize].parameters;
        if parameters.len() != data.len() {
            let expected = format!("{} parameters", parameters.len());
            return Err(self.names.malformed("action_data", expected, data));
        }
        let mut all = vec![];
        for (parameter, text) in parameters.iter().zip(data) {
            all.extend(self.number(text, parameter.width, &parameter.name)?);
        }
        Ok(all)
    }

    /// Parses a number of `width` bits; a negative one becomes its two's complement.
    fn number(&self, text: &str, width: u32, what: &str) -> Result<Vec<u64>, LoadError> {
        let number = Integer::from_hex(text).and_then(|number| {
            if !number.negative {
                return number.to_width(width);
            }
            let count = limbs(width);
            let mut limbs = number.to_limbs(count as usize);
            limbs[count as usize - 1] &= mask(width - u32::from(count - 1) * 64);
            Some(limbs)
        });
        number.ok_or_else(|| self.names.malformed(what, format!("{width} bits"), text))
    }

    fn entry_matches(
        &self,
        key: &[KeyField],
        entry: &[EntryKey],
    ) -> Result<Vec<FieldMatch>, LoadError> {
        if key.len() != entry.len() {
            let expected = format!("{} fields", key.len());
            return Err(self.names.malformed("match_key", expected, entry.len()));
        }
        let one = |(field, part): (&KeyField, &EntryKey)| {
            let number = |text: Option<&str>, what: &str| {
                self.number(text.unwrap_or(""), field.width, &format!("{what} of {}", field.name))
            };
            let value = || match &part.key {
                Value::Bool(valid) => Ok(vec![u64::from(*valid)]),
                other => number(other.as_str(), "key"),
            };
            match (field.kind, part.match_type.as_str()) {
                (MatchKind::Exact, "exact" | "valid") => Ok(FieldMatch::Exact(value()?)),
                (MatchKind::Lpm, "lpm") => match part.prefix_length {
                    Some(length) if length <= field.width => Ok(FieldMatch::Lpm(value()?, length)),
                    length => {
                        let expected = format!("0 to {}", field.width);
                        Err(self.names.malformed("prefix_length", expected, length))
                    }
                },
                (MatchKind::Ternary, "ternary" | "optional") => {
                    Ok(FieldMatch::Ternary(value()?, number(part.mask.as_deref(), "mask")?))
                }
                (MatchKind::Range, "range") => {
                    let start = number(part.start.as_deref(), "start")?;
                    Ok(FieldMatch::Range(start, number(part.end.as_deref(), "end")?))
                }
                (_, other) => Err(self.names.unsupported("for this field, the match", other)),
            }
        };
        key.iter().zip(entry).map(one).collect()
    }
}
