//! Tables: the key is put together in registers, an array or a function of ours has its row, and
//! what the row says is read from there: the action, its parameters where they are used, and the
//! counter.

use super::graph::{arm_place, arms};
use super::host::{Helper, TABLES, addresses};
use super::translate::Translator;
use crate::op::internal;
use crate::program::{KeyLoad, Table};
use crate::table::rows::{COUNTER, TARGET, packed, parameters_at, stride};
use crate::table::{NARROW_WORDS, is_array, is_trie, steps};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};

impl Translator<'_, '_> {
    pub(super) fn table(&mut self, i: u32, next: &[usize]) {
        let program = self.program;
        let declared = &program.tables[i as usize];
        let plain = declared.meter.is_none() && declared.profile.is_none() && !declared.idle;
        let found = if plain && usize::from(declared.words) <= NARROW_WORDS {
            self.row(i, declared)
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
        for (arm, &to) in arms(program, i).into_iter().zip(next) {
            debug_assert_eq!(arm_place(arm), self.graph.blocks[to].place);
            let holds = self.builder.ins().icmp_imm(IntCC::Equal, found, packed(arm) as i64);
            self.branch_to(holds, to);
        }
        // An action of a profile's member: the interpreter goes on.
        self.builder.ins().return_(&[found]);
    }

    /// Finds the row of the key, counts the packet, and makes the parameters known. Returns the
    /// row's action and what follows it.
    fn row(&mut self, i: u32, declared: &Table) -> Value {
        let key = self.key(&declared.loads);
        let row = match declared.words {
            // The first is that of a miss.
            0 => self.noted(addresses(i).rows),
            _ if is_array(declared) => {
                let row = self.row_in_array(i, key[0]);
                self.row_at(i, declared, row)
            }
            _ if is_trie(declared) => {
                let row = self.row_in_trie(i, declared, key[0]);
                self.row_at(i, declared, row)
            }
            _ => {
                let number = self.constant(i.into());
                self.call_with(Helper::Row, &[number, key[0], key[1]])
            }
        };
        let at = |word: usize| word as i32 * 8;
        if declared.counted {
            let bytes = self.read(internal::ARRIVED);
            let one = self.constant(1);
            for (word, more) in [(COUNTER, one), (COUNTER + 1, bytes)] {
                let flags = MemFlags::trusted();
                let count = self.builder.ins().load(types::I64, flags, row, at(word));
                let count = self.builder.ins().iadd(count, more);
                self.builder.ins().store(flags, count, row, at(word));
            }
        }
        // Nobody else writes there while the code runs, so what is not used is not read.
        let flags = MemFlags::trusted().with_readonly();
        for limb in 0..declared.stride {
            let word = parameters_at(declared.counted) + usize::from(limb);
            let value = self.builder.ins().load(types::I64, flags, row, at(word));
            self.write(self.program.parameters + limb, value);
        }
        self.builder.ins().load(types::I64, flags, row, at(TARGET))
    }

    /// The number of the row of a key that is below the number of the array's cells.
    fn row_in_array(&mut self, i: u32, key: Value) -> Value {
        let array = self.noted(addresses(i).cells);
        let cell = self.builder.ins().ishl_imm(key, 2);
        let cell = self.builder.ins().iadd(array, cell);
        self.builder.ins().uload32(MemFlags::trusted(), cell, 0)
    }

    /// The number of the row of the longest prefix, as `Trie::find` finds it.
    fn row_in_trie(&mut self, i: u32, declared: &Table, key: Value) -> Value {
        let (width, (first, step)) = (declared.key[0].width, steps(declared.max_size));
        let cells = self.noted(addresses(i).cells);
        let mut best = self.noted(addresses(i).any);
        let found = self.builder.create_block();
        let row = self.builder.append_block_param(found, types::I64);
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
        row
    }

    /// So many bits of a key of `width` bits after the first `taken`; zeros behind its end.
    fn part(&mut self, key: Value, width: u32, taken: u32, count: u32) -> Value {
        let end = taken + count;
        let moved = match width.checked_sub(end) {
            Some(behind) => self.builder.ins().ushr_imm(key, i64::from(behind)),
            None => self.builder.ins().ishl_imm(key, i64::from(end - width)),
        };
        self.masked(moved, (1 << count) - 1)
    }

    /// Where a row is.
    fn row_at(&mut self, i: u32, declared: &Table, row: Value) -> Value {
        let rows = self.noted(addresses(i).rows);
        let stride = stride(declared.stride.into(), declared.counted);
        let offset = self.builder.ins().imul_imm(row, stride as i64 * 8);
        self.builder.ins().iadd(rows, offset)
    }

    /// An address that a table has noted.
    fn noted(&mut self, at: usize) -> Value {
        let tables = self.host_constant(TABLES);
        let flags = MemFlags::trusted().with_readonly();
        self.builder.ins().load(types::I64, flags, tables, at as i32)
    }

    /// A key of up to two words, as `Table::gather` has it.
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
