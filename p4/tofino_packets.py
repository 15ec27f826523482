#!/usr/bin/env python3
"""Writes tests/packets/tofino/*.stf: packet tests of p4/tna.p4 by p4testgen, p4c's test generator.

    P4TESTGEN=PATH TNA_INCLUDE=DIRECTORY p4/tofino_packets.py

p4testgen executes the program symbolically, for Tofino 1 and 2, and finds entries, a packet and
what comes out for many paths. TNA_INCLUDE has tna.p4 and t2na.p4. A test begins with `# test N`.

p4testgen calculates no checksums. It gets the program without the check of IPv4's; each packet then
gets the right one here, before and after the switch. Random loss and mirrored packets have no test,
because p4testgen does not know their outcome.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tofino import ROOT, TARGETS

TESTS = ROOT / "tests/packets/tofino"
COUNT = 150
OPTIONS = ["--test-backend", "STF", "--max-tests", str(COUNT), "--seed", "1"]
OPTIONS += ["--path-selection", "RANDOM_BACKTRACK", "--test-name", "test"]
OPTIONS += ["--port-ranges", "0:7", "--packet-size-range", "0:640"]
VERIFY = "whole.verify()"
IPV4, ETHERNET_DIGITS, CHECKSUM = "0800", 28, slice(20, 24)


def internet_checksum(content: bytes) -> int:
    """RFC 1071, of an even number of bytes."""
    total = sum(int.from_bytes(content[at : at + 2], "big") for at in range(0, len(content), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_checksum(digits: str) -> str:
    """A frame in hexadecimal digits with the right IPv4 checksum, where it has a whole header."""
    header = digits[ETHERNET_DIGITS:]
    if digits[24:ETHERNET_DIGITS] != IPV4 or not re.match("4[5-9A-F]", header):
        return digits
    header = header[: int(header[1], 16) * 8]
    zeroed = header[: CHECKSUM.start] + "0000" + header[CHECKSUM.stop :]
    if "*" in zeroed or len(header) < int(header[1], 16) * 8:
        return digits
    right = f"{internet_checksum(bytes.fromhex(zeroed)):04X}"
    at = ETHERNET_DIGITS + CHECKSUM.start
    return digits[:at] + right + digits[at + 4 :]


def cleaned(test: str) -> str:
    """A test without p4testgen's trace, with right checksums."""
    lines = (line.split(" ") for line in test.splitlines() if line and not line.startswith("#"))
    return "".join(
        " ".join(
            [*words[:2], with_checksum(words[2])] if words[0] in ("packet", "expect") else words
        )
        + "\n"
        for words in lines
    )


def generate(p4testgen: str, include: str, number: int, target: str) -> None:
    """Writes the tests of one target."""
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(shutil.copytree(ROOT / "p4", Path(scratch) / "p4")) / "tna.p4"
        text = program.read_text()
        if VERIFY not in text:
            sys.exit(f"p4/tna.p4 has no {VERIFY}: the tests would not reach what is behind it")
        program.write_text(text.replace(VERIFY, "false"))
        out = Path(scratch) / "out"
        command = [p4testgen, "--target", target, "--arch", TARGETS[target], "--std", "p4-16"]
        command += [*OPTIONS, "-I", include, f"-D__TARGET_TOFINO__={number}"]
        command += ["--out-dir", str(out), str(program)]
        subprocess.run(command, check=True, capture_output=True)
        tests = sorted(out.glob("*.stf"), key=lambda path: int(path.stem.rpartition("_")[2]))
        (TESTS / f"{target}.stf").write_text(
            "".join(f"# test {at}\n{cleaned(path.read_text())}" for at, path in enumerate(tests, 1))
        )
        print(f"{TESTS / target}.stf: {len(tests)} tests")


def main() -> int:
    """Reads the environment."""
    p4testgen = shutil.which(os.environ.get("P4TESTGEN", "p4testgen"))
    include = os.environ.get("TNA_INCLUDE")
    if p4testgen is None or include is None:
        print(
            "p4testgen (p4c's, with the Tofino target) is not on PATH nor in $P4TESTGEN, or "
            "$TNA_INCLUDE does not name the directory of tna.p4",
            file=sys.stderr,
        )
        return 2
    TESTS.mkdir(exist_ok=True)
    for number, target in enumerate(TARGETS, 1):
        generate(p4testgen, include, number, target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
