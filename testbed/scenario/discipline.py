"""A port's queue discipline in a scenario: its name, or a table of name and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import (
    ConfigDict,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from narrows.controller import aqm
from narrows.testbed import catalogue
from narrows.testbed.scenario.values import RECORD_UNITS, Model, read_key, registered

if TYPE_CHECKING:
    from narrows.controller.stages import PortStage
    from narrows.schema.records import DisciplineParameter, DisciplineRecord
    from narrows.schema.switch import DisciplineConfig, QueueConfig


class Discipline(Model):
    """The queue discipline: a name from `narrows list disciplines`, or a table with name and
    parameters, such as `{ name = "codel", target = "5ms" }`. Parameters use the units of the
    discipline's record; absent ones take its defaults.
    """

    model_config = ConfigDict(extra="allow")

    short_form: ClassVar = {"type": "string", "x-names": ["disciplines"]}
    """What may stand for the table: the name alone."""

    name: Annotated[str, registered("disciplines")]
    """The discipline; it decides which other keys there are."""

    @model_validator(mode="before")
    @classmethod
    def _or_its_name(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _parameters_are_the_disciplines(self) -> Self:
        extra = self.model_extra or {}
        known = {each["name"]: each for each in self.record["parameters"]}
        for name, value in extra.items():
            if name not in known:
                what = catalogue.unknown(f"parameter of {self.name}", name, known)
                raise ValueError(f'"{name}" {what}')
            extra[name] = read_key(name, value, known[name]["unit"])
            check_range(known[name], extra[name])
        return self

    @model_serializer(mode="wrap")
    def _with_units(self, write: SerializerFunctionWrapHandler) -> dict[str, Any] | str:
        written: dict[str, Any] = write(self)
        unit_of = {each["name"]: each["unit"] for each in self.record["parameters"]}
        for name, value in (self.model_extra or {}).items():
            written[name] = RECORD_UNITS[unit_of[name]][1](value)
        return written if self.model_extra else self.name

    @property
    def record(self) -> DisciplineRecord:
        """The engine's record of the discipline."""
        return catalogue.discipline(self.name)

    def planned(self) -> DisciplineConfig:
        """The traffic manager's discipline in the plan's format: all parameters in base units, or
        only the name if it has none. For a stage of the P4 program, that of the queue before it.
        """
        if self.is_stage:
            return aqm.QUEUE
        parameters = self.record["parameters"]
        if not parameters:
            return self.name
        values = self._values()
        whole = {each["name"] for each in parameters if each["unit"] != "number"}
        planned = {name: int(value) if name in whole else value for name, value in values.items()}
        return {"name": self.name, "parameters": planned}

    @property
    def is_stage(self) -> bool:
        """True if the P4 program has it, not the traffic manager."""
        return aqm.is_stage(self.name)

    def stages(self, rate_bps: int) -> dict[PortStage, float]:
        """The P4 program's stages for it at a port of this rate, and their values; none for the
        traffic manager's.
        """
        return aqm.stages(self.name, self._values(), rate_bps)

    def queues(self) -> list[QueueConfig]:
        """The traffic manager's queues that it needs; empty for a single one."""
        return aqm.queues(self.name, self._values())

    def _values(self) -> dict[str, float]:
        """All parameters in base units."""
        own = self.model_extra or {}
        return {
            each["name"]: own.get(each["name"], each["default"])
            for each in self.record["parameters"]
        }


def check_range(parameter: DisciplineParameter, value: float) -> None:
    """Raises `ValueError` for a value outside the parameter's range."""
    least, most = parameter["min"], parameter["max"]
    if not least <= value <= most:
        write = RECORD_UNITS[parameter["unit"]][1]
        if parameter["unit"] in ("duration", "size"):
            value, least, most = int(value), int(least), int(most)
        name = parameter["name"]
        raise ValueError(f"{name} = {write(value)}: expected {write(least)} to {write(most)}")
