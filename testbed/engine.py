"""The extension module `narrows._engine`, with the types of its stub.

Import this module within a function: `narrows doctor` and `--help` work before the engine is built.
Importing raises `EngineMissingError`.
"""

from narrows.testbed.needs import EngineMissingError

try:
    from narrows._engine import *  # noqa: F403
except ImportError as error:
    what = f"the engine is not built ({error}); `make setup` builds it"
    raise EngineMissingError(what) from error
