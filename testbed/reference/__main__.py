"""`python -m narrows.testbed.reference`: writes docs/reference/ anew."""

from __future__ import annotations

from narrows.testbed.paths import ROOT
from narrows.testbed.reference.pages import files


def main() -> None:
    """Writes every file that differs."""
    directory = ROOT / "docs/reference"
    for name, text in files().items():
        path = directory / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
