"""The page of the Python interface."""

from __future__ import annotations

import inspect
import re
from typing import Any

import narrows
from narrows.testbed.reference.markdown import page


def python() -> str:
    """Every name of `import narrows`: its signature, what it says, its methods."""
    functions = [name for name in narrows.__all__ if inspect.isfunction(getattr(narrows, name))]
    classes = [name for name in narrows.__all__ if name not in functions]
    errors = [name for name in classes if issubclass(getattr(narrows, name), Exception)]
    others = [name for name in classes if name not in errors]
    return page(
        "Python",
        "What `import narrows` gives. The [guide](../guide/python.md) shows how to use it.",
        *(part for name in functions for part in function(name)),
        *(part for name in others for part in of_class(name)),
        "## Errors",
        "\n".join(f"- `{name}`: {one_line(getattr(narrows, name))}" for name in sorted(errors)),
    )


def function(name: str) -> list[str]:
    """A function's heading, signature and text."""
    found = getattr(narrows, name)
    return [f"## {name}", signature(f"narrows.{name}", found), text(found)]


def of_class(name: str) -> list[str]:
    """A class's heading and text, and a list of its public members."""
    found = getattr(narrows, name)
    made = [signature(f"narrows.{name}", found)] if found.__init__.__doc__ else []
    members = {key: value for key, value in vars(found).items() if key[0] != "_"}
    listed = [f"- `{member(key, value)}`: {one_line(value)}" for key, value in members.items()
              if inspect.getdoc(unwrapped(value)) and callable_or_property(value)]  # fmt: skip
    return [f"## {name}", *made, text(found), "\n".join(listed)]


def callable_or_property(value: Any) -> bool:
    """True for a method or a property."""
    return isinstance(value, property | classmethod) or inspect.isfunction(value)


def unwrapped(value: Any) -> Any:
    """What a class method is made of."""
    return value.__func__ if isinstance(value, classmethod) else value


def member(name: str, value: Any) -> str:
    """A property's name; a method's with its parameters."""
    if isinstance(value, property):
        return name
    parameters = list(inspect.signature(unwrapped(value)).parameters.values())[1:]
    return f"{name}({', '.join(str(each.replace(annotation=each.empty)) for each in parameters)})"


def signature(name: str, found: Any) -> str:
    """A block with the signature, a parameter in each line where there are several."""
    given = inspect.signature(found.__init__ if inspect.isclass(found) else found)
    parameters = [each for each in given.parameters.values() if each.name != "self"]
    lines = list[str]()
    keyword_only = False
    for at, each in enumerate(parameters):
        if each.kind is each.KEYWORD_ONLY and not keyword_only:
            lines.append("*")
            keyword_only = True
        # Annotations are text, which Python prints in quotes.
        lines.append(re.sub(r": '([^']*)'", r": \1", str(each)))
        following = parameters[at + 1].kind if at + 1 < len(parameters) else None
        if each.kind is each.POSITIONAL_ONLY and following is not each.POSITIONAL_ONLY:
            lines.append("/")
    result = "" if inspect.isclass(found) else f" -> {given.return_annotation}"
    inner = "".join(f"    {line},\n" for line in lines)
    return f"```python\n{name}(\n{inner}){result}\n```"


def text(found: Any) -> str:
    """What it says, its paragraphs as one line each."""
    said = inspect.getdoc(unwrapped(found)) or ""
    return "\n\n".join(" ".join(part.split()) for part in said.split("\n\n"))


def one_line(found: Any) -> str:
    """What it says, as one line."""
    return " ".join((inspect.getdoc(unwrapped(found)) or "").split())
