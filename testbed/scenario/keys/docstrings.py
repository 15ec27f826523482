"""The text below each field of a model, which Python does not keep.

Pydantic can keep it (`use_attribute_docstrings`), but reads the source at every start for that.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import textwrap

from pydantic import BaseModel


@functools.cache
def of_class(model: type[BaseModel]) -> dict[str, str]:
    """The text of each field that the class itself declares, in one line, by the field's name."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(model)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for node, after in itertools.pairwise(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            match after:
                case ast.Expr(ast.Constant(str(text))):
                    found[node.target.id] = one_line(text)
    return found


def of_field(model: type[BaseModel], name: str) -> str:
    """The text of a field, its own or inherited; empty where there is none."""
    classes = (each for each in model.__mro__ if issubclass(each, BaseModel))
    texts = (of_class(each).get(name) for each in classes if each is not BaseModel)
    return next(filter(None, texts), "")


def one_line(text: str) -> str:
    """Text without its line breaks."""
    return " ".join(text.split())
