//! Control flow: tables, conditionals and their successors.

use super::error::LoadError;
use super::json::{Pipeline, Table as JsonTable};
use super::loader::Loader;
use crate::ir::{Block, Op, Pc};
use std::collections::BTreeMap;

/// A node of the control flow, by index into its list in the JSON.
#[derive(Clone, Copy)]
enum Node {
    /// Also the table's number in the program.
    Table(usize, u16),
    Conditional(usize),
    Call(usize),
}

impl Loader<'_> {
    pub(super) fn pipelines(&mut self) -> Result<(), LoadError> {
        let root = self.root;
        for (name, block) in [("ingress", Block::Ingress), ("egress", Block::Egress)] {
            self.names.location = "pipelines".into();
            let found = root.pipelines.iter().find(|pipeline| pipeline.name == name);
            let Some(pipeline) = found else {
                return Err(self.names.unknown("pipeline", name));
            };
            self.program.starts[block as usize] = self.pipeline(pipeline)?;
        }
        self.bind_direct()
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Pc, LoadError> {
        let mut nodes: Vec<Node> = vec![];
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        let first_table = self.program.tables.len();
        self.action_profiles(pipeline)?;
        for (i, table) in pipeline.tables.iter().enumerate() {
            self.names.location = format!("table '{}'", table.name);
            let lowered = self.table(table)?;
            self.program.tables.push(lowered);
            index.insert(&table.name, nodes.len());
            nodes.push(Node::Table(i, (first_table + i) as u16));
        }
        for (i, conditional) in pipeline.conditionals.iter().enumerate() {
            index.insert(&conditional.name, nodes.len());
            nodes.push(Node::Conditional(i));
        }
        for (i, call) in pipeline.action_calls.iter().enumerate() {
            index.insert(&call.name, nodes.len());
            nodes.push(Node::Call(i));
        }
        let mut flow = Flow {
            pipeline,
            index,
            starts: vec![None; nodes.len()],
            nodes,
            jumps: vec![],
            pending: vec![],
        };
        self.names.location = format!("pipeline '{}'", pipeline.name);
        let Some(init) = flow.find(self, pipeline.init_table.as_deref())? else { return Ok(0) };
        flow.pending.push(init);
        while let Some(node) = flow.pending.pop() {
            self.chain(&mut flow, node)?;
        }
        let start = |node: Pc| match node {
            0 => 0,
            node => flow.starts[node as usize - 1].unwrap_or(0),
        };
        for &(at, node) in &flow.jumps {
            self.patch(at, start(node));
        }
        for table in &mut self.program.tables[first_table..] {
            table.next.iter_mut().for_each(|next| *next = start(*next));
            table.on_hit = table.on_hit.map(start);
            table.on_miss = table.on_miss.map(start);
            table.base_next = start(table.base_next);
        }
        Ok(start(init as Pc + 1))
    }

    /// Emits a node and those that follow it without a jump.
    fn chain(&mut self, flow: &mut Flow<'_>, first: usize) -> Result<(), LoadError> {
        if flow.starts[first].is_some() {
            return Ok(());
        }
        let mut current = Some(first);
        loop {
            let Some(node) = current else {
                self.emit(Op::Halt);
                return Ok(());
            };
            if flow.starts[node].is_some() {
                flow.jumps.push((self.emit(Op::Jump(0)), node as Pc + 1));
                return Ok(());
            }
            flow.starts[node] = Some(self.here());
            match flow.nodes[node] {
                Node::Conditional(i) => {
                    let conditional = &flow.pipeline.conditionals[i];
                    self.names.location = format!("conditional '{}'", conditional.name);
                    let condition = self.names.expr(&conditional.expression)?;
                    let otherwise = flow.find(self, conditional.false_next.as_deref())?;
                    let jump = self.branch_unless(&condition)?;
                    self.statement_ends();
                    flow.jumps.push((jump, otherwise.map_or(0, |node| node as Pc + 1)));
                    flow.pending.extend(otherwise);
                    current = flow.find(self, conditional.true_next.as_deref())?;
                }
                Node::Call(i) => {
                    let call = &flow.pipeline.action_calls[i];
                    self.names.location = format!("action call '{}'", call.name);
                    let action = match self.action_ids.get(&call.action_id) {
                        Some(&action) => action,
                        None => return Err(self.names.unknown("action with id", call.action_id)),
                    };
                    if !self.program.actions[action as usize].parameters.is_empty() {
                        let expected = "an action without parameters";
                        return Err(self.names.malformed("action_id", expected, call.action_id));
                    }
                    current = flow.find(self, call.next_node.as_deref())?;
                    self.inline_action(action, 0)?;
                }
                Node::Table(i, number) => {
                    self.names.location = format!("table '{}'", flow.pipeline.tables[i].name);
                    self.next_nodes(flow, &flow.pipeline.tables[i], number)?;
                    let table = &self.program.tables[number as usize];
                    // p4c's form of a plain statement: no key, one action, nothing to set.
                    let always = table.key.is_empty() && table.default_fixed;
                    let Some((action, data)) = table.default.clone().filter(|_| always) else {
                        self.emit(Op::Table(u32::from(number)));
                        return Ok(());
                    };
                    let next = self.program.tables[number as usize].after(action, false);
                    let parameters = if data.is_empty() { 0 } else { self.constant_limbs(data)? };
                    self.inline_action(action, parameters)?;
                    current = next.checked_sub(1).map(|node| node as usize);
                }
            }
        }
    }

    /// Reads a table's next nodes, for now as node numbers plus 1, with 0 for the end.
    fn next_nodes(
        &mut self,
        flow: &mut Flow<'_>,
        json: &JsonTable,
        number: u16,
    ) -> Result<(), LoadError> {
        let base = flow.find(self, json.base_default_next.as_deref())?;
        let mut nodes: Vec<Option<usize>> = vec![base];
        let (mut hit, mut miss) = (None, None);
        let mut named: BTreeMap<&str, Pc> = BTreeMap::new();
        for (label, next) in &json.next_tables {
            let node = match next {
                super::value::Value::Null => None,
                next => flow.find(self, Some(self.names.string(next)?))?,
            };
            nodes.push(node);
            let node = node.map_or(0, |node| node as Pc + 1);
            match label.as_str() {
                "__HIT__" => hit = Some(node),
                "__MISS__" => miss = Some(node),
                action => drop(named.insert(action, node)),
            }
        }
        flow.pending.extend(nodes.into_iter().flatten());
        let base = base.map_or(0, |node| node as Pc + 1);
        let actions = &self.program.actions;
        let table = &mut self.program.tables[number as usize];
        for (next, &action) in table.next.iter_mut().zip(&table.actions) {
            let name = actions[action as usize].name.as_str();
            *next = named.get(name).copied().unwrap_or(base);
        }
        (table.on_hit, table.on_miss, table.base_next) = (hit, miss, base);
        Ok(())
    }

    /// Connects direct counters and meters with their tables.
    fn bind_direct(&mut self) -> Result<(), LoadError> {
        let root = self.root;
        let counters = root.counter_arrays.iter().map(|c| (c.is_direct, &c.name, &c.binding));
        let meters = root.meter_arrays.iter().map(|m| (m.is_direct, &m.name, &m.binding));
        let mut found = vec![];
        for (direct, name, binding) in counters.chain(meters) {
            self.names.location = format!("direct extern '{name}'");
            let table = match (direct, binding) {
                (true, Some(binding)) => {
                    match self.program.tables.iter().position(|table| table.name == *binding) {
                        Some(table) => Some(table as u16),
                        None => return Err(self.names.unknown("table", binding)),
                    }
                }
                _ => None,
            };
            found.push(table);
        }
        let (counters, meters) = found.split_at(root.counter_arrays.len());
        for (counter, table) in self.program.counters.iter_mut().zip(counters) {
            counter.table = *table;
        }
        for (meter, table) in self.program.meters.iter_mut().zip(meters) {
            meter.table = *table;
        }
        Ok(())
    }

    /// Reads the order in which the deparser emits headers.
    pub(super) fn deparser(&mut self) -> Result<(), LoadError> {
        self.names.location = "deparsers".into();
        let [deparser] = self.root.deparsers.as_slice() else {
            let found = self.root.deparsers.len();
            return Err(self.names.malformed("deparsers", "one deparser", found));
        };
        if !deparser.primitives.is_empty() {
            return Err(self.names.unsupported("primitives in the deparser", &deparser.name));
        }
        for name in &deparser.order {
            let header = self.names.header(name)?;
            let header = self.real_header(header)?;
            self.program.deparse.push(header);
        }
        let order = self.program.deparse.clone();
        for (i, &header) in order.iter().enumerate() {
            let several = order.iter().filter(|&&other| other == header).count() > 1;
            self.program.headers[header as usize].rank = if several { 0 } else { i as u64 + 1 };
        }
        let patched = |header: &&u16| {
            let found = &self.program.headers[**header as usize];
            !found.patch.is_empty() && !self.program.egress_headers.contains(header)
        };
        self.program.patched = order.iter().filter(patched).copied().collect();
        Ok(())
    }
}

struct Flow<'a> {
    pipeline: &'a Pipeline<'a>,
    index: BTreeMap<&'a str, usize>,
    nodes: Vec<Node>,
    starts: Vec<Option<Pc>>,
    /// Jumps to nodes: the operation, and the node's number plus 1.
    jumps: Vec<(Pc, Pc)>,
    pending: Vec<usize>,
}

impl Flow<'_> {
    fn find(&self, loader: &Loader<'_>, name: Option<&str>) -> Result<Option<usize>, LoadError> {
        match name {
            None => Ok(None),
            Some(name) => match self.index.get(name) {
                Some(&node) => Ok(Some(node)),
                None => Err(loader.names.unknown("table or conditional", name)),
            },
        }
    }
}
