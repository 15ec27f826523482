"""What a link does to packets besides a fixed delay, in the terms of tc-netem(8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, WithJsonSchema

from narrows.schema import units
from narrows.testbed.scenario.values import Duration, Model, Probability

if TYPE_CHECKING:
    from narrows.schema import plan


def _chance(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and value == 1:
        return 1.0
    return 1.0 if value == "100%" else units.parse_share(value)


Chance = Annotated[
    float,
    BeforeValidator(_chance),
    Field(ge=0, le=1),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string"}],
            "x-type": "share",
            "examples": ["1%"],
        }
    ),
]
"""A probability up to 1."""


class GilbertElliott(Model):
    """Burst loss by the model of Gilbert and Elliott, with netem's names. The link loses packets,
    and is in the bad state for the share p / (p + r) of them.
    """

    model: Literal["gemodel"]
    """The model's name in netem."""
    p: Chance
    """Probability of a change from the good state to the bad one, for each packet."""
    r: Chance | None = None
    """Probability of a change back; absent: 1 - p."""
    bad_loss: Annotated[Chance, Field(alias="1-h")] = 1.0
    """Probability of a loss in the bad state."""
    good_loss: Annotated[Chance, Field(alias="1-k")] = 0.0
    """Probability of a loss in the good state."""

    def planned(self) -> plan.GilbertElliott:
        """The model in the plan's format."""
        back = 1 - self.p if self.r is None else self.r
        return {"p": self.p, "r": back, "bad_loss": self.bad_loss, "good_loss": self.good_loss}


class Duplicate(Model):
    """Duplication: the link sends some packets twice."""

    probability: Chance
    """Probability that a packet is sent twice. Each of the two then has its own loss and delay."""
    correlation: Probability = 0.0
    """Correlation of a packet's draw with the one before."""

    def planned(self) -> plan.Chance:
        """The duplication in the plan's format."""
        return {"probability": self.probability, "correlation": self.correlation}


def _share_or(model: type[Model]) -> Callable[[object], object]:
    """Reads a table as the model's, and anything else as a share."""

    def read(value: object) -> object:
        if isinstance(value, dict):
            return model.model_validate(value)
        if value is None or isinstance(value, model):
            return value
        return TypeAdapter(Probability).validate_python(value)

    return read


Loss = Annotated[Probability | GilbertElliott | None, BeforeValidator(_share_or(GilbertElliott))]
"""A probability, or a model of burst loss."""
Duplication = Annotated[Probability | Duplicate | None, BeforeValidator(_share_or(Duplicate))]
"""A probability, or what the link does."""
BY_LINK = (GilbertElliott, Duplicate)
"""Values of a stage's key that ask the link in its place."""


class Reorder(Model):
    """Reordering: some packets skip the delay, and so overtake the packets in flight."""

    probability: Chance
    """Probability that a packet whose turn it is skips the delay."""
    correlation: Probability = 0.0
    """Correlation of a packet's draw with the one before."""
    gap: Annotated[int, Field(ge=1, lt=2**32, examples=[5])] = 1
    """Packets from one that skips the delay to the next that may."""

    def planned(self) -> plan.ReorderConfig:
        """The reordering in the plan's format."""
        return {
            "probability": self.probability,
            "correlation": self.correlation,
            "gap": self.gap,
        }


def _some(value: int) -> int:
    if value == 0:
        raise ValueError('expected a duration above zero, such as "2ms"')
    return value


class Jitter(Model):
    """Jitter: a packet has `delay` plus `time` times a number of the distribution, at least 0."""

    time: Annotated[Duration, AfterValidator(_some)]
    """The jitter: half the range of a uniform distribution, the standard deviation of a normal
    one.
    """
    distribution: Literal["uniform", "normal", "pareto", "paretonormal"] = "uniform"
    """netem's distribution; the last two have a long tail up to 4 times the jitter."""
    correlation: Probability = 0.0
    """Correlation of a packet's delay with that of the one before."""

    def planned(self) -> plan.JitterConfig:
        """The jitter in the plan's format."""
        return {
            "time_ps": self.time,
            "distribution": self.distribution,
            "correlation": self.correlation,
        }


class PortImpairments(Model):
    """Keys of a port for its link, in the direction of the data."""

    reorder: Reorder | None = None
    """Lets packets overtake others."""
    jitter: Jitter | None = None
    """Varies the delay of packets."""
    keep_order: bool = True
    """Whether packets wait for those before them when jitter or a falling delay would let them
    overtake; netem's do not. `reorder` overtakes in any case.
    """

    def impairments(self) -> list[str]:
        """The names of its keys that ask the link for more than a fixed delay."""
        names = ("reorder", "jitter", "delay_trace")
        found = [name for name in names if getattr(self, name, None)]
        either = ("duplicate", "loss")
        return found + [name for name in either if isinstance(getattr(self, name, None), BY_LINK)]
