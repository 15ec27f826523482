"""`narrows doctor`: what this machine has and lacks, and the command that mends it.

Standard library only and importable before anything is installed: `make doctor` runs this module.
"""

from __future__ import annotations

import sys

from narrows.testbed.needs import NEEDS


def main() -> int:
    """Prints the list. Exit code 1 when something is missing that everything needs."""
    missing = False
    for need in NEEDS:
        if found := need.find():
            print(f"ok       {need.name}: {found}")
        else:
            print(f"{'MISSING ' if need.required else 'absent  '} {need.name}, for {need.serves}")
            print(f"           {need.mend()}")
            missing |= need.required
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
