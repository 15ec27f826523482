//! The operations that end a straight run: jumps, branches, selects.

use super::translator::Translator;
use crate::ir::{Case, Op, Pc, Slot};
use crate::jit::graph::BlockKey;
use crate::jit::host::Helper;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};

impl Translator<'_, '_> {
    /// Jumps to the end of the block if `stop` is set.
    pub(super) fn stop_if(&mut self, stop: Value) {
        let on = self.builder.create_block();
        self.builder.ins().brif(stop, self.done, &[], on, &[]);
        self.builder.switch_to_block(on);
    }

    /// The block to jump to for a block of the graph; a jump inside a loop consumes fuel.
    pub(super) fn target(&mut self, to: usize) -> Block {
        if !self.graph.loops {
            return self.blocks[to];
        }
        let edge = self.builder.create_block();
        self.edges.push((edge, to));
        edge
    }

    pub(super) fn jump(&mut self, to: usize) {
        let block = self.target(to);
        self.builder.ins().jump(block, &[]);
    }

    /// Translates the last operation of a block.
    pub(super) fn last(&mut self, pc: Pc, key: BlockKey, next: &[usize]) {
        match self.program.ops[pc as usize] {
            Op::Halt => {
                self.builder.ins().jump(self.done, &[]);
            }
            Op::Return | Op::Jump(_) => self.jump(next[0]),
            Op::JumpZero { a, .. } => {
                let a = self.read(a);
                let taken = self.target(next[0]);
                self.builder.ins().brif(a, self.blocks[next[1]], &[], taken, &[]);
            }
            Op::JumpEq { a, b, .. } => self.branch(IntCC::Equal, a, b, next),
            Op::JumpNe { a, b, .. } => self.branch(IntCC::NotEqual, a, b, next),
            Op::SelectState(i) => self.select(i, next),
            Op::Table(i) => self.table(i, next),
            // The interpreter continues from here.
            Op::Choose { .. } => {
                self.all_in_memory();
                let packed = self.constant(u64::from(pc) << 32);
                self.builder.ins().return_(&[packed]);
            }
            _ => {
                self.op(pc);
                debug_assert!(next.len() == 1, "{key:?} falls through");
                self.builder.ins().jump(self.blocks[next[0]], &[]);
            }
        }
    }

    pub(super) fn branch(&mut self, condition: IntCC, a: Slot, b: Slot, next: &[usize]) {
        let (a, b) = (self.read(a), self.read(b));
        let holds = self.builder.ins().icmp(condition, a, b);
        let taken = self.target(next[0]);
        self.builder.ins().brif(holds, taken, &[], self.blocks[next[1]], &[]);
    }

    pub(super) fn select(&mut self, i: u32, next: &[usize]) {
        let program = self.program;
        let select = &program.selects[i as usize];
        if select.cases.iter().any(|case| matches!(case, Case::ValueSet { .. })) {
            select.key.iter().for_each(|&slot| self.in_memory(slot));
            let chosen = self.call(Helper::Select, u64::from(i));
            let targets = select.cases.iter().map(|case| match case {
                Case::Value { next, .. } | Case::ValueSet { next, .. } => u64::from(*next),
            });
            for (pc, &to) in targets.zip(next) {
                let holds = self.builder.ins().icmp_imm(IntCC::Equal, chosen, pc as i64);
                self.branch_to(holds, to);
            }
        } else {
            for (case, &to) in select.cases.iter().zip(next) {
                let Case::Value { parts, .. } = case else { continue };
                let mut holds = None;
                for (&slot, &(value, mask)) in select.key.iter().zip(parts) {
                    let part = self.read(slot);
                    let part = self.masked(part, mask);
                    let same = self.builder.ins().icmp_imm(IntCC::Equal, part, value as i64);
                    holds = Some(match holds {
                        None => same,
                        Some(holds) => self.builder.ins().band(holds, same),
                    });
                }
                match holds {
                    Some(holds) => self.branch_to(holds, to),
                    // A key without parts.
                    None => {
                        let always = self.constant(1);
                        self.branch_to(always, to);
                    }
                }
            }
        }
        if let Some(&default) = next.last() {
            self.jump(default);
        }
    }

    /// Jumps if `holds`; otherwise continues with the code written next.
    pub(super) fn branch_to(&mut self, holds: Value, to: usize) {
        let (taken, on) = (self.target(to), self.builder.create_block());
        self.builder.ins().brif(holds, taken, &[], on, &[]);
        self.builder.switch_to_block(on);
    }
}
