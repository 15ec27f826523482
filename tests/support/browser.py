"""A headless Chromium for the pages' tests; skipped by name if there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

from tests.support.needs import without

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")

needs_chromium = without(
    [f"{name} is not installed"
     for name, path in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if not path]
)  # fmt: skip


@contextmanager
def browser(downloads: Path) -> Iterator[webdriver.Chrome]:
    """A browser without a window or a network that saves what it downloads in `downloads`."""
    options = Options()
    options.binary_location = str(CHROMIUM)
    for argument in ("--headless=new", "--disable-gpu", "--proxy-server=127.0.0.1:9",
                     f"--user-data-dir={downloads / '.profile'}"):  # fmt: skip
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    saves = "profile.default_content_setting_values.automatic_downloads"
    wanted = {"download.default_directory": str(downloads), saves: 1}
    options.add_experimental_option("prefs", wanted)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Chromium puts a Unix socket into TMPDIR, whose path may have 107 bytes at most.
    service = Service(str(DRIVER), env={**os.environ, "TMPDIR": "/tmp"})
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def resize(driver: webdriver.Chrome, width: int, height: int, *, mobile: bool = False) -> None:
    """The page's window in pixels."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def show(driver: webdriver.Chrome, page: Path) -> None:
    """Opens a page and waits until each of its charts is drawn."""
    driver.get(page.as_uri())
    script = """return [...document.querySelectorAll("figure")].every(figure => {
      figure.scrollIntoView();
      return figure.querySelector(".screen .plot-container");
    })"""
    wait(driver, lambda: driver.execute_script(script))


def wait(driver: webdriver.Chrome, true: Any, seconds: float = 30) -> None:
    """Waits until `true()` is."""
    WebDriverWait(driver, seconds, poll_frequency=0.1).until(lambda _: true())
