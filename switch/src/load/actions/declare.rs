//! Actions: their names, parameters and bodies.

use crate::ir::{Action, Op, Parameter, Slot, limbs};
use crate::load::error::LoadError;
use crate::load::expressions::Expr;
use crate::load::json::Primitive;
use crate::load::loader::Loader;
use crate::load::value::Value;

impl Loader<'_> {
    /// Reads the actions' names and parameters.
    pub(crate) fn declare_actions(&mut self) -> Result<(), LoadError> {
        for action in &self.root.actions {
            self.names.location = format!("action '{}'", action.name);
            let (mut parameters, mut total) = (vec![], 0);
            for data in &action.runtime_data {
                if data.bitwidth == 0 || data.bitwidth > 16_384 {
                    let expected = "a width of 1 to 16,384 bits";
                    return Err(self.names.malformed(&data.name, expected, data.bitwidth));
                }
                let width = data.bitwidth as u32;
                total += limbs(width);
                parameters.push(Parameter { name: data.name.clone(), width });
            }
            let index = self.program.actions.len() as u16;
            if self.action_ids.insert(action.id, index).is_some() {
                return Err(self.names.malformed("id", "one of its own", action.id));
            }
            self.program.actions.push(Action {
                name: action.name.clone(),
                parameters,
                code: 0,
                limbs: total,
            });
        }
        Ok(())
    }

    pub(crate) fn lower_actions(&mut self) -> Result<(), LoadError> {
        for index in 0..self.root.actions.len() {
            self.program.actions[index].code = self.here();
            self.inline_action(index as u16, self.program.parameters)?;
            self.emit(Op::Return);
        }
        Ok(())
    }

    /// Emits an action's body here; its parameters start at slot `parameters`.
    pub(crate) fn inline_action(&mut self, index: u16, parameters: Slot) -> Result<(), LoadError> {
        let action = &self.root.actions[index as usize];
        let mut slot = parameters;
        self.locals.clear();
        for parameter in &self.program.actions[index as usize].parameters {
            self.locals.push((slot, parameter.width));
            slot += limbs(parameter.width);
        }
        let location = format!("action '{}'", action.name);
        let result = self.primitives(&location, &action.primitives);
        self.locals.clear();
        result
    }

    pub(crate) fn primitives(
        &mut self,
        location: &str,
        primitives: &[Primitive],
    ) -> Result<(), LoadError> {
        let (mut starts, mut jumps) = (vec![], vec![]);
        for (i, primitive) in primitives.iter().enumerate() {
            self.names.location = format!("{location}, primitive {i} ({})", primitive.op);
            starts.push(self.here());
            let parameters = &primitive.parameters;
            match primitive.op.as_str() {
                "_jump" => {
                    let target = self.jump_target(parameters.first(), primitives.len())?;
                    jumps.push((self.emit(Op::Jump(0)), target));
                }
                "_jump_if_zero" => {
                    let condition = self.names.expr(self.parameter(parameters, 0)?)?;
                    let target = self.jump_target(parameters.get(1), primitives.len())?;
                    jumps.push((self.branch_unless(&condition)?, target));
                }
                op => self.primitive(op, parameters)?,
            }
            self.statement_ends();
        }
        starts.push(self.here());
        for (at, target) in jumps {
            self.patch(at, starts[target]);
        }
        Ok(())
    }

    pub(crate) fn jump_target(
        &self,
        value: Option<&Value>,
        count: usize,
    ) -> Result<usize, LoadError> {
        let target = match value.map(|value| self.names.expr(value)).transpose()? {
            Some(Expr::Constant(target)) => target.to_u64(),
            _ => None,
        };
        match target {
            Some(target) if target <= count as u64 => Ok(target as usize),
            _ => Err(self.names.malformed("offset", "the index of a primitive", value)),
        }
    }
}
