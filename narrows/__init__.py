"""Narrows: TCP through a programmable bottleneck. The folders here are the repository's rooms.

```python
import narrows

results = narrows.run("new-aimd", duration="10s")
results.figure("queue_delay")
results.queue.collect()
```

A name is imported when it is first used, so that `import narrows` takes a millisecond.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from narrows.analysis.figures import UnknownFigureError
    from narrows.analysis.load import LoadError, Run
    from narrows.testbed.api.picture import FigureError, Picture
    from narrows.testbed.api.results import Results, load
    from narrows.testbed.api.running import RunsFailedError, run
    from narrows.testbed.api.scenario import Scenario
    from narrows.testbed.problems import InputError

_PLACES = {
    "FigureError": "testbed.api.picture",
    "InputError": "testbed.problems",
    "LoadError": "analysis.load",
    "Picture": "testbed.api.picture",
    "Results": "testbed.api.results",
    "Run": "analysis.load",
    "RunsFailedError": "testbed.api.running",
    "Scenario": "testbed.api.scenario",
    "UnknownFigureError": "analysis.figures",
    "load": "testbed.api.results",
    "run": "testbed.api.running",
}
"""The module of each name of the interface."""

__all__ = [
    "FigureError", "InputError", "LoadError", "Picture", "Results", "Run", "RunsFailedError",
    "Scenario", "UnknownFigureError", "load", "run",
]  # fmt: skip


if not TYPE_CHECKING:  # else every name would be there, of any type

    def __getattr__(name: str) -> Any:
        """A name of the interface, imported at its first use."""
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """The interface, for completion."""
    return sorted({*globals(), *__all__})
