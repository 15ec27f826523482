"""Quantities with their units: text such as `"5Mbps"` to integers in base units, and back.

This is the one grammar of quantities: scenarios, command lines and the controller read it, and
the engines print it. `common/tests/units.json` has examples for the Python and the Rust tests.

```
quantity = [sign] number [spaces] unit
number   = digits ["." digits] | "." digits          "_" may separate digits
rate     = prefix ("bps" | "b/s" | "bit/s")          prefix: nothing, k, M, G, T
size     = prefix "B" | ("Ki" | "Mi" | "Gi" | "Ti") "B"
duration = "ps" | "ns" | "us" | "ms" | "s" | "min" | "h"
packets  = "packets" | "packet"
share    = "%"
```

Prefixes are powers of 1000, so a kB is 1000 bytes; KiB, MiB, GiB and TiB are powers of 1024. K is
k; otherwise case counts, because m and M differ. `µs` is `us`.

Base units are those of the engine: bits per second, picoseconds, bytes. Conversions are exact; a
value that is not a whole number of base units is an error, never rounded.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from narrows.schema.switch import QueueLimit

PS_PER_NS = 1_000
PS_PER_US = 1_000_000
PS_PER_MS = 1_000_000_000
PS_PER_S = 1_000_000_000_000

PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "K": 10**3}

RATE_BPS = {
    f"{prefix}{unit}": factor
    for unit in ("bps", "b/s", "bit/s")
    for prefix, factor in PREFIXES.items()
}
DURATION_PS = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": PS_PER_S,
    "min": 60 * PS_PER_S,
    "h": 3600 * PS_PER_S,
}
SIZE_BYTES = {f"{prefix}B": factor for prefix, factor in PREFIXES.items()} | {
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
PACKETS = {"packet": 1, "packets": 1}
BDP = {"bdp": 1}
SHARE = {"%": Fraction(1, 100)}

A_RATE = 'a rate above zero such as "5Mbps" (bps, kbps, Mbps, Gbps, Tbps; also Mb/s, Mbit/s)'
A_DURATION = 'a time such as "50ms" (ps, ns, us, ms, s, min, h)'
A_SIZE = 'a size such as "1460B" (B, kB, MB, GB, TB; KiB, MiB, GiB, TiB)'
A_QUEUE = 'a queue limit above zero such as "100packets", "150kB", "20ms" or "1.5bdp"'
A_WINDOW = 'a window above zero such as "200packets" or "64KiB"'
A_SHARE = 'a share from 0 to 1 such as 0.01 or "1%"'

# The engine's times are 64-bit picoseconds; a day below the end leaves room for sums.
LONGEST_PS = 2**64 - 1 - 86_400 * PS_PER_S
LARGEST = 2**63 - 1

QUANTITY = re.compile(r"\s*([+-]?)(\d[\d_]*(?:\.\d+)?|\.\d+)\s*([A-Za-z/µμ%]*)\s*\Z")


@dataclass(frozen=True)
class Queue:
    """A queue's limit: `amount` of `unit`; a BDP multiple becomes bytes once the path is known."""

    unit: Literal["packets", "bytes", "ps", "bdp"]
    amount: Fraction

    def __str__(self) -> str:
        match self.unit:
            case "packets":
                return f"{self.amount}packets"
            case "bytes":
                return format_size(int(self.amount))
            case "ps":
                return format_duration(int(self.amount))
            case "bdp":
                return f"{decimal(self.amount)}bdp"

    def as_limit(self) -> QueueLimit:
        """The limit in the plan's format. Raises `ValueError` for a BDP multiple."""
        match self.unit:
            case "packets":
                return {"packets": int(self.amount)}
            case "bytes":
                return {"bytes": int(self.amount)}
            case "ps":
                return {"time_ps": int(self.amount)}
            case "bdp":
                raise ValueError("is a multiple of a BDP, which is known in a scenario only")


@dataclass(frozen=True)
class Window:
    """A receive window: packets of the flow's segment size, or bytes."""

    unit: Literal["packets", "bytes"]
    amount: int

    def __str__(self) -> str:
        return f"{self.amount}packets" if self.unit == "packets" else format_size(self.amount)

    def as_bytes(self, segment_bytes: int) -> int:
        """The window in bytes for a flow of `segment_bytes` segments."""
        return self.amount * (segment_bytes if self.unit == "packets" else 1)


def parse_rate(value: object) -> int:
    """`"5Mbps"` as bits per second, above zero. Raises `ValueError`."""
    return whole_number(*quantity(value, A_RATE, RATE_BPS), A_RATE, "bit/s", least=1)


def parse_duration(value: object) -> int:
    """`"50ms"` as picoseconds, zero or more. Raises `ValueError`."""
    return whole_number(
        *quantity(value, A_DURATION, DURATION_PS), A_DURATION, "ps", most=LONGEST_PS
    )


def parse_size(value: object) -> int:
    """`"20000kB"` as bytes, zero or more. Raises `ValueError`."""
    return whole_number(*quantity(value, A_SIZE, SIZE_BYTES), A_SIZE, "B")


def parse_queue(value: object) -> Queue:
    """`"100packets"`, `"150kB"`, `"20ms"` or `"1.5bdp"`. Raises `ValueError`."""
    if isinstance(value, Queue):
        return value
    amount, unit = quantity(value, A_QUEUE, PACKETS | SIZE_BYTES | DURATION_PS | BDP)
    if unit in BDP:
        if amount <= 0:
            raise ValueError(f"is not above zero; expected {A_QUEUE}")
        return Queue("bdp", amount)
    kind: Literal["packets", "bytes", "ps"]
    kind = "packets" if unit in PACKETS else "bytes" if unit in SIZE_BYTES else "ps"
    base = {"packets": "packets", "bytes": "B", "ps": "ps"}[kind]
    return Queue(kind, Fraction(whole_number(amount, unit, A_QUEUE, base, least=1)))


def parse_window(value: object) -> Window:
    """`"200packets"` or `"64KiB"`. Raises `ValueError`."""
    if isinstance(value, Window):
        return value
    amount, unit = quantity(value, A_WINDOW, PACKETS | SIZE_BYTES)
    packets = unit in PACKETS
    number = whole_number(amount, unit, A_WINDOW, "packets" if packets else "B", least=1)
    return Window("packets" if packets else "bytes", number)


def parse_share(value: object) -> float:
    """`0.01` or `"1%"` as a number; the caller checks its range. Raises `ValueError`."""
    if isinstance(value, str):
        return float(quantity(value, A_SHARE, SHARE)[0])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"is not a number; expected {A_SHARE}")
    return float(value)


def format_rate(bps: int) -> str:
    """The largest unit that gives a whole part of at least 1: `"5Mbps"`."""
    return largest(bps, ("Tbps", "Gbps", "Mbps", "kbps", "bps"), RATE_BPS)


def format_duration(ps: int) -> str:
    """The largest unit that gives a whole part of at least 1, exact to the picosecond:

    `"1.5ms"`.
    """
    return largest(ps, ("s", "ms", "us", "ns", "ps"), DURATION_PS) if ps else "0s"


def format_size(size_bytes: int) -> str:
    """The largest decimal unit that divides it: `"20MB"`, `"150kB"`, `"1460B"`."""
    name = next(name for name in ("GB", "MB", "kB", "B") if size_bytes % SIZE_BYTES[name] == 0)
    return f"{size_bytes // SIZE_BYTES[name]}{name}" if size_bytes else "0B"


def mac_bytes(text: str) -> bytes:
    """An Ethernet address's bytes."""
    return bytes.fromhex(text.replace(":", ""))


def ip_bytes(text: str) -> bytes:
    """An IPv4 address's bytes."""
    return IPv4Address(text).packed


def quantity(
    value: object, expected: str, units: Mapping[str, int | Fraction]
) -> tuple[Fraction, str]:
    """Splits text into its exact number and its unit. Raises `ValueError`."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"is not text; expected {expected}")
    match = QUANTITY.match(str(value))
    if match is None:
        raise ValueError(f"is not a number with a unit; expected {expected}")
    sign, number, unit = match.groups()
    unit = unit.replace("µ", "u").replace("μ", "u")
    if sign == "-":
        raise ValueError(f"is negative; expected {expected}")
    if not unit:
        raise ValueError(f"has no unit; expected {expected}")
    if unit not in units:
        near = difflib.get_close_matches(unit.lower(), [name.lower() for name in units], 1, 0.5)
        names = [name for name in units if name.lower() in near]
        hint = f'; did you mean "{names[0]}"?' if names else ""
        raise ValueError(f'has the unknown unit "{unit}"{hint} (expected {expected})')
    return Fraction(number) * units[unit], unit


def whole_number(
    amount: Fraction,
    _unit: str,
    expected: str,
    base: str,
    *,
    least: int = 0,
    most: int = LARGEST,
) -> int:
    """The amount as an integer in `least..=most`. Raises `ValueError`."""
    if amount.denominator != 1:
        raise ValueError(f"is not a whole number of {base}; expected {expected}")
    if amount < least:
        raise ValueError(f"is below {least} {base}; expected {expected}")
    if amount > most:
        raise ValueError(f"is above {most} {base}; expected {expected}")
    return int(amount)


def largest(amount: int, names: tuple[str, ...], units: Mapping[str, int]) -> str:
    """`amount` base units in the first of `names` that gives a whole part of at least 1."""
    name = next((name for name in names if amount >= units[name]), names[-1])
    return f"{decimal(Fraction(amount, units[name]))}{name}"


def decimal(value: Fraction) -> str:
    """A fraction with a finite decimal expansion as text: `"1.5"`."""
    shown, places = value, 0
    while shown.denominator != 1:
        shown, places = shown * 10, places + 1
    digits = str(int(shown)).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits
