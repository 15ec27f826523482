//! A phase of the architecture, and when machine code may go on to the next one.

use super::stored::Stored;
use super::translator::Translator;
use crate::ir::architecture::{self, DROP_PORT, Phase, Step};
use crate::ir::{MetadataField, Slot, internal};
use crate::jit::host::{DONE, WRITTEN};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

impl Translator<'_, '_> {
    /// Writes the function. Returns which private slots must be in memory. If those exceed
    /// `stored`, the function is wrong and must be written again.
    pub(in crate::jit) fn translate(mut self, phase: Phase) -> Stored {
        self.noted_look_ups = (phase == Phase::Arrive).then_some(0);
        self.steps(phase);
        let end = match phase {
            Phase::Depart if self.patches() => {
                self.end_if_more_is_asked();
                self.steps(Phase::Finish);
                self.patch();
                WRITTEN
            }
            Phase::Finish if self.patches() => {
                self.patch_unless_moved();
                self.rebuild();
                WRITTEN
            }
            _ => DONE,
        };
        self.end_with(end);
        self.finalize()
    }

    fn steps(&mut self, phase: Phase) {
        for &step in phase.steps() {
            match step {
                Step::Run(block) => self.block(block),
                Step::Tell(error) => {
                    let (from, to) = error.source_and_field(&self.program.standard);
                    self.tell(from, to);
                }
            }
        }
    }

    /// Stores an error of one block where the next block reads it.
    fn tell(&mut self, error: Slot, field: MetadataField) {
        if let Some(field) = field.known() {
            let error = self.read(error);
            let error = self.masked(error, field.mask);
            self.write(field.slot, error);
        }
    }

    /// Ends the phase if the architecture must act before the remaining blocks, or after them.
    fn end_if_more_is_asked(&mut self) {
        let [aborted, clone, moved] =
            [internal::ABORTED, architecture::CLONE, internal::MOVED].map(|slot| self.read(slot));
        let requested = self.builder.ins().bor(aborted, clone);
        let requested = self.builder.ins().bor(requested, moved);
        self.end_if(requested);
        let port = self.read(self.program.standard.egress_spec.slot);
        let drops = self.builder.ins().icmp_imm(IntCC::Equal, port, DROP_PORT as i64);
        self.end_if(drops);
    }

    /// Ends the phase and writes the fields back, if no header has moved.
    fn patch_unless_moved(&mut self) {
        let moved = self.read(internal::MOVED);
        let (in_place, on) = (self.builder.create_block(), self.builder.create_block());
        let before = self.known_here();
        self.builder.ins().brif(moved, on, &[], in_place, &[]);
        self.builder.switch_to_block(in_place);
        self.patch();
        self.end_with(WRITTEN);
        self.builder.switch_to_block(on);
        self.go_back_to(before);
    }

    /// Ends the phase if `value` is not 0.
    pub(super) fn end_if(&mut self, value: Value) {
        let (end, on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(value, end, &[], on, &[]);
        self.builder.switch_to_block(end);
        self.end_with(DONE);
        self.builder.switch_to_block(on);
    }

    fn end_with(&mut self, end: u64) {
        let end = self.constant(end);
        self.builder.ins().return_(&[end]);
    }
}
