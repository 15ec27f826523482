"""The links of a Markdown page: where they lead, and what becomes of those that leave the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.M | re.S)
HEADING = re.compile(r"^#{1,6} (.+)$", re.M)


def without_code(text: str) -> str:
    """The text with spaces instead of code; all other characters keep their positions."""
    return CODE.sub(lambda found: re.sub(r"\S", " ", found[0]), text)


def targets(page: str, text: str) -> Iterator[tuple[str, str]]:
    """Path (from the root) and anchor of every link of a page, except addresses."""
    for found in LINK.finditer(without_code(text)):
        if not is_address(found[3]):
            yield resolved(page, found[3])


def is_address(link: str) -> bool:
    """True for a link to another site."""
    return re.match(r"[a-z]+:", link) is not None


def resolved(page: str, link: str) -> tuple[str, str]:
    """Path (from the root) and anchor of a link."""
    path, _, anchor = link.partition("#")
    if not path:
        return page, anchor
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)), anchor


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as Python-Markdown makes them."""
    found: set[str] = set()
    for heading in HEADING.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        slug = re.sub(r"[^\w\s-]", "", re.sub(r"\]\([^)]*\)", "]", heading)).strip().lower()
        slug = base = re.sub(r"[-\s]+", "-", slug)
        copies = 0
        while slug in found:
            copies += 1
            slug = f"{base}_{copies}"
        found.add(slug)
    return found


def rewritten(page: str, text: str, known: Collection[str], sources: str) -> str:
    """A page whose links to files outside the site lead to `sources` (the address of the sources),
    or are plain text where that is empty.
    """
    bare = without_code(text)

    def link(found: re.Match[str]) -> str:
        start = found.start(3)
        if bare[start : start + 1].isspace() or is_address(found[3]):
            return found[0]
        path, anchor = resolved(page, found[3])
        if path in known:
            return found[0]
        if not sources:
            return found[2]
        return f"{found[1]}[{found[2]}]({sources}/{path}{'#' * bool(anchor)}{anchor})"

    return LINK.sub(link, text)
