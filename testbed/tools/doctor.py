"""`narrows doctor`: what this machine has and lacks, with the commands that install the rest.

Standard library only and importable before anything is installed: `make doctor` runs this module.
"""

from __future__ import annotations

import sys

from narrows.testbed.needs import NEEDS


def main() -> int:
    """Prints the list. Returns exit code 1 if required software is missing."""
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
