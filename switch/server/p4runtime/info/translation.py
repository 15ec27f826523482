"""Strings instead of numbers: `@p4runtime_translation("", string)` (P4Runtime specification, 17.2).

A numeral maps to its number, so ports keep theirs. The empty string maps to 0, and any other to the
lowest free number from 1. A string keeps its number until the pipeline is replaced.
"""

from __future__ import annotations

from narrows.switch.server.target import TargetError, invalid


class Names:
    """The strings of one translated type."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._next = 1

    def number(self, data: bytes, width: int, label: str) -> int:
        """A string's number of at most `width` bits. Raises `TargetError`."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise invalid(
                f"{label}: {data[:40]!r}: expected UTF-8 for a string of {self.name}"
            ) from None
        if text not in self._numbers:
            number = self._number_for(text, width, label)
            self._numbers[text], self._names[number] = number, text
        return self._numbers[text]

    def _number_for(self, text: str, width: int, label: str) -> int:
        if text == "" and 0 not in self._names:
            return 0
        # A long numeral is not a number of `width` bits; Python reads no more than 4,300 digits.
        is_numeral = text.isascii() and text.isdecimal() and len(text) <= width
        value = int(text) if is_numeral else -1
        if str(value) == text and value < 1 << width and value not in self._names:
            return value
        while self._next in self._names:
            self._next += 1
        if self._next >= 1 << width:
            message = f"{label}: {text[:40]!r}: all {1 << width} numbers of {self.name} are in use"
            raise TargetError("resource-exhausted", message)
        return self._next

    def text(self, number: int) -> bytes:
        """A number's string."""
        return self._names.get(number, str(number)).encode()
