//! Tables. Registers hold the key. An array, a trie, the look-up cache or [`Helper::LookUp`] finds
//! its entry, which holds the action, its parameters and the counter.

use super::translator::{STAYS, Translator};
use crate::ir::{KeyLoad, Slot, Table, internal};
use crate::jit::graph::{arm_key, arms};
use crate::jit::host::{Helper, TABLES, addresses};
use crate::state::tables::action_entries::{COUNTER, TARGET, packed, parameters_at, stride};
use crate::state::tables::lookup_cache::{Cell, FACTORS};
use crate::state::tables::{NARROW_WORDS, is_array, is_trie, steps};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};
use std::mem::{offset_of, size_of};

impl Translator<'_, '_> {
    pub(super) fn table(&mut self, i: u32, next: &[usize]) {
        let program = self.program;
        let declared = &program.tables[i as usize];
        let is_in_use = self.in_use.has(i);
        let plain = declared.meter.is_none() && declared.profile.is_none() && !declared.idle;
        let is_narrow = plain && usize::from(declared.words) <= NARROW_WORDS;
        let is_written_out = is_narrow || !is_in_use;
        let found = if is_written_out {
            self.find_entry(i, declared)
        } else {
            declared.loads.iter().for_each(|load| self.in_memory(load.slot));
            let found = self.call(Helper::Apply, u64::from(i));
            self.forget(program.parameters, declared.stride.into());
            if declared.profile.is_some() {
                self.all_in_memory();
            }
            if let Some(meter) = declared.meter {
                self.forget(program.meters[meter as usize].target, 1);
            }
            found
        };
        let mut arms: Vec<_> = arms(program, self.in_use, i).into_iter().zip(next).collect();
        // If every result is written out, the last needs no comparison; otherwise the action may
        // belong to a profile's member.
        let last = if is_written_out { arms.pop() } else { None };
        for (arm, &to) in arms {
            debug_assert_eq!(arm_key(arm), self.graph.blocks[to].key);
            let holds = self.builder.ins().icmp_imm(IntCC::Equal, found, packed(arm) as i64);
            self.branch_to(holds, to);
        }
        match last {
            Some((_, &to)) => self.jump(to),
            // The interpreter continues.
            None => drop(self.builder.ins().return_(&[found])),
        }
    }

    /// Finds the entry of the key, counts the packet, and loads the parameters. Returns the entry's
    /// action and the operation after it.
    fn find_entry(&mut self, i: u32, declared: &Table) -> Value {
        let entry = if declared.words == 0 || !self.in_use.has(i) {
            // Entry 0 is that of a miss.
            self.noted(addresses(i).action_entries)
        } else {
            let key = self.key(&declared.loads);
            let number = if is_array(declared) {
                self.number_in_array(i, key[0])
            } else if is_trie(declared) {
                self.number_in_trie(i, declared, key[0])
            } else {
                self.number_in_cache(i, declared, key)
            };
            let entry = self.entry_at(i, declared, number);
            if !is_array(declared) {
                self.note_look_up(entry);
            }
            entry
        };
        let at = |word: usize| word as i32 * 8;
        if declared.counted {
            let bytes = self.read(internal::ARRIVED);
            let one = self.constant(1);
            for (word, more) in [(COUNTER, one), (COUNTER + 1, bytes)] {
                let flags = MemFlags::trusted();
                let count = self.builder.ins().load(types::I64, flags, entry, at(word));
                let count = self.builder.ins().iadd(count, more);
                self.builder.ins().store(flags, count, entry, at(word));
            }
        }
        for limb in 0..declared.stride {
            let word = parameters_at(declared.counted) + usize::from(limb);
            let value = self.builder.ins().load(types::I64, STAYS, entry, at(word));
            self.write(self.program.parameters + limb, value);
        }
        self.builder.ins().load(types::I64, STAYS, entry, at(TARGET))
    }

    /// The entry of a key that is below the array's size.
    fn number_in_array(&mut self, i: u32, key: Value) -> Value {
        let array = self.noted(addresses(i).cells);
        let cell = self.builder.ins().ishl_imm(key, 2);
        let cell = self.builder.ins().iadd(array, cell);
        self.builder.ins().uload32(MemFlags::trusted(), cell, 0)
    }

    /// The entry with the longest matching prefix, like `Trie::find`.
    fn number_in_trie(&mut self, i: u32, declared: &Table, key: Value) -> Value {
        let (width, (first, step)) = (declared.key[0].width, steps(declared.max_size));
        let cells = self.noted(addresses(i).cells);
        let mut best = self.noted(addresses(i).any);
        let found = self.builder.create_block();
        let number = self.builder.append_block_param(found, types::I64);
        let (mut node, mut taken, mut count) = (self.constant(0), 0, first);
        loop {
            let bits = self.part(key, width, taken, count);
            let cell = self.builder.ins().iadd(node, bits);
            let cell = self.builder.ins().ishl_imm(cell, 3);
            let at = self.builder.ins().iadd(cells, cell);
            let here = self.builder.ins().uload32(MemFlags::trusted(), at, 0);
            best = self.builder.ins().select(here, here, best);
            (taken, count) = (taken + count, step);
            if taken >= width {
                self.builder.ins().jump(found, &[best.into()]);
                break;
            }
            node = self.builder.ins().uload32(MemFlags::trusted(), at, 4);
            let below = self.builder.create_block();
            self.builder.ins().brif(node, below, &[], found, &[best.into()]);
            self.builder.switch_to_block(below);
        }
        self.builder.switch_to_block(found);
        number
    }

    /// `count` bits of a key of `width` bits, after its first `taken` bits; padded with zeros.
    fn part(&mut self, key: Value, width: u32, taken: u32, count: u32) -> Value {
        let end = taken + count;
        let moved = match width.checked_sub(end) {
            Some(behind) => self.builder.ins().ushr_imm(key, i64::from(behind)),
            None => self.builder.ins().ishl_imm(key, i64::from(end - width)),
        };
        self.masked(moved, (1 << count) - 1)
    }

    /// The entry of a key, from the look-up cache or by `Helper::LookUp`.
    fn number_in_cache(&mut self, i: u32, declared: &Table, key: [Value; NARROW_WORDS]) -> Value {
        let (mut hash, mut differs) = (self.constant(0), self.constant(0));
        let words = &key[..declared.words.into()];
        for (&word, factor) in words.iter().zip(FACTORS) {
            let product = self.builder.ins().imul_imm(word, factor as i64);
            hash = self.builder.ins().iadd(hash, product);
        }
        let shift = self.noted(addresses(i).shift);
        let cell = self.builder.ins().ushr(hash, shift);
        let cell = self.builder.ins().imul_imm(cell, size_of::<Cell>() as i64);
        let cells = self.noted(addresses(i).cells);
        let cell = self.builder.ins().iadd(cells, cell);
        self.note_look_up(cell);
        for (i, &word) in words.iter().enumerate() {
            let at = (offset_of!(Cell, key) + i * 8) as i32;
            let known = self.builder.ins().load(types::I64, MemFlags::trusted(), cell, at);
            let other = self.builder.ins().bxor(known, word);
            differs = self.builder.ins().bor(differs, other);
        }
        let at = offset_of!(Cell, entry) as i32;
        let cached = self.builder.ins().load(types::I64, MemFlags::trusted(), cell, at);
        let (look, found) = (self.builder.create_block(), self.builder.create_block());
        let number = self.builder.append_block_param(found, types::I64);
        self.builder.set_cold_block(look);
        self.builder.ins().brif(differs, look, &[], found, &[cached.into()]);
        self.builder.switch_to_block(look);
        let table = self.constant(i.into());
        let looked_up = self.call_with(Helper::LookUp, &[table, key[0], key[1]]);
        self.builder.ins().jump(found, &[looked_up.into()]);
        self.builder.switch_to_block(found);
        number
    }

    /// The address of an entry.
    fn entry_at(&mut self, i: u32, declared: &Table, number: Value) -> Value {
        let action_entries = self.noted(addresses(i).action_entries);
        let stride = stride(declared.stride.into(), declared.counted);
        let offset = self.builder.ins().imul_imm(number, stride as i64 * 8);
        self.builder.ins().iadd(action_entries, offset)
    }

    /// Notes where a look-up ended, if this phase notes that. The last ones count.
    fn note_look_up(&mut self, address: Value) {
        if let Some(number) = &mut self.noted_look_ups {
            let slot = internal::LOOK_UPS + (*number % internal::LOOK_UPS_KEPT) as Slot;
            *number += 1;
            self.write(slot, address);
        }
    }

    /// An address that a table has recorded.
    fn noted(&mut self, at: usize) -> Value {
        let tables = self.host_constant(TABLES);
        self.builder.ins().load(types::I64, STAYS, tables, at as i32)
    }

    /// A key of up to two words, like `Table::gather`.
    fn key(&mut self, loads: &[KeyLoad]) -> [Value; NARROW_WORDS] {
        let mut words = [None; NARROW_WORDS];
        for load in loads {
            let part = self.read(load.slot);
            let part = self.masked(part, load.mask);
            let part = self.builder.ins().ishl_imm(part, i64::from(load.shift));
            let word = &mut words[load.word as usize];
            *word = Some(match *word {
                Some(word) => self.builder.ins().bor(word, part),
                None => part,
            });
        }
        words.map(|word| word.unwrap_or_else(|| self.constant(0)))
    }
}
