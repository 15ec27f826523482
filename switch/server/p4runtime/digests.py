"""Collects digests into lists, sends them and handles acknowledgements (P4Runtime specification,
9.9 and 16.5).

A sent value is not sent again until its list is acknowledged or `ack_timeout_ns` has passed. Times
are from the caller's clock.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from finsy.proto import p4d, p4r

from narrows.schema import budgets
from narrows.switch.server.p4runtime.info.convert import encode, number
from narrows.switch.server.p4runtime.info.p4info import Named, Schema
from narrows.switch.server.p4runtime.undo import Undo
from narrows.switch.server.target import TargetError, invalid

Values = tuple[str, ...]


@dataclass
class Collection:
    """One digest that a controller enabled."""

    digest: Named
    config: p4r.DigestEntry.Config
    waiting: deque[Values] = field(default_factory=deque)
    since_ns: int = 0
    sent: OrderedDict[int, tuple[list[Values], int]] = field(default_factory=OrderedDict)
    """Lists that wait to be acknowledged, by number, with their times; the oldest is the first."""
    unacknowledged: set[Values] = field(default_factory=set)


class Digests:
    """The digests of one pipeline configuration."""

    def __init__(self, schema: Schema) -> None:
        self._by_name = {digest.name: digest for digest in schema.digests.values()}
        self._by_id = schema.digests
        self._asked: dict[int, Collection] = {}
        self._lists = 0
        self.lost = 0
        """Digests dropped since too many wait or are not acknowledged."""

    def write(self, kind: int, message: p4r.DigestEntry) -> Undo:
        """Enables, reconfigures or disables a digest."""
        if message.digest_id not in self._by_id:
            raise TargetError("not-found", f"digest {message.digest_id:#x} is not in the P4Info")
        digest = self._by_id[message.digest_id]
        before, label = self._asked.get(digest.id), f"digest '{digest.name}'"
        if kind == p4r.Update.INSERT and before:
            raise TargetError("already-exists", f"{label}: is already enabled")
        if kind != p4r.Update.INSERT and not before:
            raise TargetError("not-found", f"{label}: is not enabled")
        if kind == p4r.Update.DELETE:
            del self._asked[digest.id]
        else:
            config = message.config
            if config.max_timeout_ns < 0 or config.max_list_size < 0 or config.ack_timeout_ns < 0:
                raise invalid(f"{label}: expected times and sizes of at least 0")
            self._asked[digest.id] = Collection(digest, config)

        def undo() -> None:
            if before:
                self._asked[digest.id] = before
            else:
                self._asked.pop(digest.id, None)

        return undo

    def read(self, asked: p4r.DigestEntry) -> Iterator[p4r.Entity]:
        """One digest or all."""
        for one in list(self._asked.values()):
            if asked.digest_id in (0, one.digest.id):
                entry = p4r.DigestEntry(digest_id=one.digest.id, config=one.config)
                yield p4r.Entity(digest_entry=entry)

    def handle_digest(self, name: str, values: Values, now_ns: int) -> None:
        """Queues a digest of the program; dropped if no controller enabled it."""
        digest = self._by_name.get(name)
        one = self._asked.get(digest.id) if digest else None
        if one is None or values in one.unacknowledged:
            return
        if len(one.unacknowledged) >= budgets.DIGESTS_UNACKNOWLEDGED:
            self.lost += 1
            return
        if not one.waiting:
            one.since_ns = now_ns
        one.waiting.append(values)
        one.unacknowledged.add(values)

    def handle_ack(self, ack: p4r.DigestListAck) -> None:
        """Handles a list's acknowledgement. Raises `TargetError` for a list that was never sent."""
        one = self._asked.get(ack.digest_id)
        if one is None:
            raise TargetError("not-found", f"digest {ack.digest_id:#x} is not enabled")
        if ack.list_id in one.sent:
            one.unacknowledged.difference_update(one.sent.pop(ack.list_id)[0])

    def poll_lists(self, now_ns: int) -> Iterator[p4r.DigestList]:
        """Some of the lists that are due: full, or past their time-out. The next call goes on."""
        for one in self._asked.values():
            forget_old(one, now_ns)
            # Without a size, what waits is a list.
            least = one.config.max_list_size or 1
            most = one.config.max_list_size or budgets.DIGEST_VALUES_AT_ONCE
            old = now_ns - one.since_ns >= one.config.max_timeout_ns
            left = budgets.DIGEST_VALUES_AT_ONCE
            while left > 0 and (len(one.waiting) >= least or (one.waiting and old)):
                part = [one.waiting.popleft() for _ in range(min(most, len(one.waiting)))]
                left -= len(part)
                self._lists += 1
                one.sent[self._lists] = (part, now_ns)
                shown = p4r.DigestList(
                    digest_id=one.digest.id, list_id=self._lists, timestamp=now_ns
                )
                for each in part:
                    show(shown.data.add(), one.digest, each)
                yield shown


def forget_old(one: Collection, now_ns: int) -> None:
    """Forgets lists that were not acknowledged in time: their values may be sent again."""
    while one.sent:
        values, sent_ns = next(iter(one.sent.values()))
        if now_ns - sent_ns < one.config.ack_timeout_ns:
            return
        one.sent.popitem(last=False)
        one.unacknowledged.difference_update(values)


def show(data: p4d.P4Data, digest: Named, values: Values) -> None:
    """Encodes values in the digest's P4Info type: a struct or one bit string."""
    if digest.is_struct:
        for value in values:
            data.struct.members.add().bitstring = encode(number(value))
    else:
        data.bitstring = encode(number(values[0]))
