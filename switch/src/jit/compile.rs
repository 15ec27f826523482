//! Compiles a program: translates each phase, then generates machine code by Cranelift.

use super::graph::Graph;
use super::host::{Code, Helper};
use super::known_bits::KnownBits;
use super::phase::End;
use super::tables_in_use::TablesInUse;
use super::translate::{Stored, Translator};
use crate::interpreter::Machine;
use crate::ir::architecture::Phase;
use crate::ir::{Pc, Program, Slot};
use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use narrows_common::Packet;
use std::collections::{BTreeMap, BTreeSet};

/// A program's machine code.
#[derive(Debug)]
pub(crate) struct MachineCode {
    code: Code,
    /// The tables that it looks up.
    in_use: TablesInUse,
    /// Metadata that only egress uses and that this code never writes to memory.
    unwritten: BTreeSet<Slot>,
}

impl MachineCode {
    /// Translates every phase. The code holds as long as no other table is in use.
    ///
    /// # Errors
    /// Why the machine or the program does not support machine code.
    pub(crate) fn new(program: &Program, in_use: TablesInUse) -> Result<MachineCode, String> {
        let graphs = graphs(program, &in_use)?;
        let mut compiler = Compiler::new()?;
        let known_bits = KnownBits::new(program);
        let part = (program, &in_use);
        // If one phase reads a slot from memory, all phases must store it there.
        let mut stored: BTreeMap<Phase, Stored> = BTreeMap::new();
        loop {
            let mut wanted = stored.clone();
            for phase in Phase::ALL {
                let before = stored.get(&phase).cloned().unwrap_or_default();
                let after =
                    compiler.translator(part, &graphs, &known_bits, &before).translate(phase);
                wanted.insert(phase, after);
            }
            Stored::share(&mut wanted);
            if wanted == stored {
                break;
            }
            stored = wanted;
        }
        let mut phases = vec![];
        for phase in Phase::ALL {
            compiler.translator(part, &graphs, &known_bits, &stored[&phase]).translate(phase);
            phases.push(compiler.define(&format!("{phase:?}"))?);
        }
        let is_written = |slot: Slot| stored.values().any(|one| one.has(slot));
        let egress_only = known_bits.zero_at_egress(program);
        let unwritten = egress_only.filter(|&slot| !is_written(slot)).collect();
        Ok(MachineCode { code: compiler.finish(&phases)?, in_use, unwritten })
    }

    /// Why the machine or the program does not support machine code, as far as that is known
    /// before the code is generated.
    pub(crate) fn check(program: &Program) -> Result<(), String> {
        graphs(program, &TablesInUse::all(program)).map(drop)
    }

    /// True if it holds while these tables are in use.
    pub(crate) fn covers(&self, in_use: &TablesInUse) -> bool {
        self.in_use.cover(in_use)
    }

    /// True if it holds while this table is in use.
    pub(crate) fn looks_up(&self, table: usize) -> bool {
        self.in_use.has(table as u32)
    }

    /// Metadata that only egress uses and that stays zero in memory: the code has it in registers.
    pub(crate) fn unwritten(&self) -> &BTreeSet<Slot> {
        &self.unwritten
    }

    /// Runs a phase.
    #[inline]
    pub(crate) fn run(
        &self,
        program: &Program,
        machine: &mut Machine,
        packet: &mut Packet,
        phase: Phase,
    ) -> End {
        self.code.run(program, machine, packet, phase)
    }
}

/// The graph of each entry point.
fn graphs(program: &Program, in_use: &TablesInUse) -> Result<BTreeMap<Pc, Graph>, String> {
    if cfg!(target_endian = "big") {
        return Err("the processor is big-endian".into());
    }
    let mut graphs = BTreeMap::new();
    for entry in program.starts.into_iter().filter(|&entry| entry != 0) {
        let graph = Graph::new(program, entry, in_use);
        graphs.insert(entry, graph.ok_or("the program's control flow is too large")?);
    }
    Ok(graphs)
}

struct Compiler {
    module: JITModule,
    context: cranelift_codegen::Context,
    builder: FunctionBuilderContext,
    helpers: [FuncId; Helper::COUNT],
    signature: Signature,
}

impl Compiler {
    fn new() -> Result<Self, String> {
        let mut flags = settings::builder();
        // Code and helpers may lie far apart; the code runs on the machine that compiles it.
        for (name, value) in [
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("opt_level", "speed"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ] {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }
        let machine = cranelift_native::builder()?;
        let isa = machine.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        for (_, name, function, _) in Helper::all() {
            builder.symbol(name, function);
        }
        let mut module = JITModule::new(builder);
        let pointer = module.target_config().pointer_type();
        let signature = |module: &JITModule, parameters: &[Type]| {
            let mut signature = module.make_signature();
            signature.params.extend(parameters.iter().map(|&kind| AbiParam::new(kind)));
            signature.returns.push(AbiParam::new(types::I64));
            signature
        };
        let mut declared = vec![];
        for (_, name, _, numbers) in Helper::all() {
            let parameters = [&[pointer][..], &vec![types::I64; numbers]].concat();
            let signature = signature(&module, &parameters);
            let id = module.declare_function(name, Linkage::Import, &signature);
            declared.push(id.map_err(|error| error.to_string())?);
        }
        let helpers = std::array::from_fn(|i| declared[i]);
        Ok(Compiler {
            context: module.make_context(),
            builder: FunctionBuilderContext::new(),
            helpers,
            signature: signature(&module, &[pointer, pointer]),
            module,
        })
    }

    /// The translator that writes a phase into the context.
    fn translator<'a>(
        &'a mut self,
        program: (&'a Program, &'a TablesInUse),
        graphs: &'a BTreeMap<Pc, Graph>,
        known_bits: &'a KnownBits,
        stored: &'a Stored,
    ) -> Translator<'a, 'a> {
        self.module.clear_context(&mut self.context);
        let function = &mut self.context.func;
        function.signature = self.signature.clone();
        let helpers = self.helpers.map(|id| self.module.declare_func_in_func(id, function));
        let builder = FunctionBuilder::new(function, &mut self.builder);
        Translator::new(program, graphs, known_bits, stored, builder, helpers)
    }

    /// Compiles the function in the context.
    fn define(&mut self, name: &str) -> Result<FuncId, String> {
        let id = self.module.declare_function(name, Linkage::Local, &self.signature);
        let id = id.map_err(|error| error.to_string())?;
        self.module.define_function(id, &mut self.context).map_err(|error| error.to_string())?;
        Ok(id)
    }

    /// The code of all phases, in phase order.
    fn finish(mut self, phases: &[FuncId]) -> Result<Code, String> {
        self.module.finalize_definitions().map_err(|error| error.to_string())?;
        let phases = std::array::from_fn(|i| self.module.get_finalized_function(phases[i]));
        Ok(Code::new(self.module, phases))
    }
}
