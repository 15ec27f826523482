//! The control flow graph of one entry point: straight runs of operations, and their successors.
//!
//! An action's code becomes one block for each table that calls it. The block's key contains the
//! return address, so `Return` is an ordinary jump.

use super::tables_in_use::TablesInUse;
use crate::ir::{Case, Op, Pc, Program};
use std::collections::{BTreeMap, BTreeSet};

/// The most blocks of one entry point: actions are repeated for each table that calls them.
const BLOCKS_MAX: usize = 20_000;

/// Where a block begins, and where a `Return` in it continues (0 outside actions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockKey {
    pub pc: Pc,
    pub back: Pc,
}

impl BlockKey {
    /// At the end of a control there is no return address.
    pub(super) fn new(pc: Pc, back: Pc) -> Self {
        BlockKey { pc, back: if pc == 0 { 0 } else { back } }
    }
}

/// Operations from `key.pc` to `last`; only the last one jumps.
#[derive(Debug)]
pub(super) struct Block {
    pub key: BlockKey,
    pub last: Pc,
    /// Indices of its successors, in the order of [`successors`].
    pub next: Vec<usize>,
    /// Indices of its predecessors.
    pub before: Vec<usize>,
}

/// Blocks in an order in which each comes after all its predecessors, except those that close a
/// loop. The first one is the entry.
#[derive(Debug)]
pub(super) struct Graph {
    pub blocks: Vec<Block>,
    pub loops: bool,
}

/// The graph of an empty block.
pub(super) static EMPTY: Graph = Graph { blocks: vec![], loops: false };

impl Graph {
    /// The graph with the results of the tables in use; of any other table, with that of a miss.
    /// `None` if there are too many blocks.
    pub(super) fn new(program: &Program, entry: Pc, in_use: &TablesInUse) -> Option<Graph> {
        let leaders = leaders(program);
        let mut found: BTreeMap<BlockKey, (Pc, Vec<BlockKey>)> = BTreeMap::new();
        let (mut order, mut open, mut loops) = (vec![], BTreeSet::new(), false);
        // Depth-first, without recursion: a block is finished after all its successors.
        let mut path = vec![(BlockKey::new(entry, 0), 0usize)];
        while let Some((key, tried)) = path.pop() {
            let (_, next) = found.entry(key).or_insert_with(|| {
                let last = last_of(program, &leaders, key.pc);
                (last, successors(program, in_use, key, last))
            });
            open.insert(key);
            match next.get(tried).copied() {
                None => {
                    open.remove(&key);
                    order.push(key);
                }
                Some(to) => {
                    path.push((key, tried + 1));
                    if open.contains(&to) {
                        loops = true;
                    } else if !found.contains_key(&to) {
                        path.push((to, 0));
                    }
                }
            }
            if found.len() > BLOCKS_MAX {
                return None;
            }
        }
        order.reverse();
        let numbers: BTreeMap<BlockKey, usize> =
            order.iter().enumerate().map(|(i, &key)| (key, i)).collect();
        let mut blocks: Vec<Block> = vec![];
        for &key in &order {
            let (last, next) = &found[&key];
            let next = next.iter().map(|to| numbers[to]).collect();
            blocks.push(Block { key, last: *last, next, before: vec![] });
        }
        for i in 0..blocks.len() {
            for to in blocks[i].next.clone() {
                blocks[to].before.push(i);
            }
        }
        Some(Graph { blocks, loops })
    }
}

/// Whether the operation ends a straight run.
pub(super) fn jumps(op: &Op) -> bool {
    matches!(
        op,
        Op::Halt
            | Op::Return
            | Op::Jump(_)
            | Op::JumpZero { .. }
            | Op::JumpEq { .. }
            | Op::JumpNe { .. }
            | Op::SelectState(_)
            | Op::Table(_)
            | Op::Choose { .. }
    )
}

/// Every jump target.
fn leaders(program: &Program) -> BTreeSet<Pc> {
    let mut leaders = BTreeSet::new();
    for op in &program.ops {
        match *op {
            Op::Jump(to)
            | Op::JumpZero { to, .. }
            | Op::JumpEq { to, .. }
            | Op::JumpNe { to, .. } => drop(leaders.insert(to)),
            _ => {}
        }
    }
    for select in &program.selects {
        leaders.extend(select_targets(select));
    }
    leaders.extend(program.actions.iter().map(|action| action.code));
    for table in &program.tables {
        leaders.extend(&table.next);
        leaders.extend(table.on_hit.iter().chain(&table.on_miss));
        leaders.insert(table.base_next);
    }
    leaders
}

fn last_of(program: &Program, leaders: &BTreeSet<Pc>, from: Pc) -> Pc {
    let mut pc = from;
    while !jumps(&program.ops[pc as usize]) && !leaders.contains(&(pc + 1)) {
        pc += 1;
    }
    pc
}

fn select_targets(select: &crate::ir::Select) -> Vec<Pc> {
    let mut targets: Vec<Pc> = vec![];
    for case in &select.cases {
        let (Case::Value { next, .. } | Case::ValueSet { next, .. }) = case;
        targets.push(*next);
    }
    targets.push(select.default);
    targets
}

/// The possible results of a table: an action's code (0 for none) and the operation after it.
pub(super) fn arms(program: &Program, in_use: &TablesInUse, table: u32) -> BTreeSet<(Pc, Pc)> {
    let declared = &program.tables[table as usize];
    let mut arms = BTreeSet::new();
    let actions = if in_use.has(table) { &declared.actions[..] } else { &[] };
    for &action in actions {
        let code = program.actions[action as usize].code;
        arms.extend([true, false].map(|hit| (code, declared.after(action, hit))));
    }
    arms.insert(match declared.default {
        None => (0, declared.after_nothing()),
        Some((action, _)) => {
            let code = program.actions[action as usize].code;
            (code, declared.after(action, false))
        }
    });
    arms
}

/// The block of one result of a table.
pub(super) fn arm_key((code, next): (Pc, Pc)) -> BlockKey {
    // Without an action there is nothing to return from.
    if code == 0 { BlockKey::new(next, 0) } else { BlockKey::new(code, next) }
}

/// A block's successors: for a branch, the jump target first; for a select, its cases and then the
/// default; for a table, its possible results.
fn successors(program: &Program, in_use: &TablesInUse, key: BlockKey, last: Pc) -> Vec<BlockKey> {
    let back = key.back;
    let to = |pc: Pc| BlockKey::new(pc, back);
    match program.ops[last as usize] {
        Op::Halt | Op::Choose { .. } => vec![],
        Op::Return => vec![BlockKey::new(back, 0)],
        Op::Jump(pc) => vec![to(pc)],
        Op::JumpZero { to: pc, .. } | Op::JumpEq { to: pc, .. } | Op::JumpNe { to: pc, .. } => {
            vec![to(pc), to(last + 1)]
        }
        Op::SelectState(i) => {
            let targets = select_targets(&program.selects[i as usize]);
            targets.into_iter().map(to).collect()
        }
        Op::Table(i) => arms(program, in_use, i).into_iter().map(arm_key).collect(),
        _ => vec![to(last + 1)],
    }
}
