"""`python -m narrows.testbed.site`: builds the site into site/ (`make docs`).

Needs the extra `docs`. The pages come from the documents, the records and runs; runs are kept in
results/site, so that a second build takes them as they are.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from narrows.testbed.paths import ROOT
from narrows.testbed.site import gallery, papers, variants
from narrows.testbed.site.links import rewritten
from narrows.testbed.site.nav import ASSETS, MADE, nav, pages
from narrows.testbed.site.runs import SiteError

BUILD = ROOT / "target/site"
SITE = ROOT / "site"
WRITERS = {"variants": variants.write, "gallery": gallery.write, "papers": papers.write}


def main() -> int:
    """Builds the site; exit code 1 when a part of it failed, which is named."""
    if importlib.util.find_spec("material") is None:
        print("docs: mkdocs-material is missing; `make docs` installs it")
        return 1
    directory = BUILD / "pages"
    shutil.rmtree(BUILD, ignore_errors=True)
    copy_documents(directory, sources())
    try:
        for name in MADE:
            print(f"docs: {name}", flush=True)
            (directory / name).mkdir()
            WRITERS[name](directory / name)
    except SiteError as error:
        print(f"docs: {error}", file=sys.stderr)
        return 1
    return build(directory)


def sources() -> str:
    """The address of the sources, for links to files that are no pages; empty: not known."""
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    return f"{server}/{repository}/blob/main" if repository else ""


def copy_documents(directory: Path, address: str) -> None:
    """Copies the documents, and what they show, to the same places in `directory`."""
    documents = [path for path in pages(ROOT) if not path.startswith(MADE)]
    assets = [path.relative_to(ROOT).as_posix() for each in ASSETS for path in ROOT.glob(each)]
    known = {*documents, *assets}
    directory.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("site.css"), directory)
    for path in (*documents, *assets):
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            text = (ROOT / path).read_text(encoding="utf-8")
            target.write_text(rewritten(path, text, known, address), encoding="utf-8")
        else:
            shutil.copy(ROOT / path, target)


def build(directory: Path) -> int:
    """Runs mkdocs on the pages; its exit code."""
    settings = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(directory),
        "site_dir": str(SITE),
        "nav": nav(directory),
    }
    file = BUILD / "mkdocs.yml"
    file.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(file)]
    # Material prints a notice of its successor, of 11 lines, at every build.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if not code:
        print("docs: site/index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
