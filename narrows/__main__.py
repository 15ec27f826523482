"""`python -m narrows`: the `narrows` command."""

import sys

from narrows.testbed.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
