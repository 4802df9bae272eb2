"""Pictures of the board for README.md, light and dark, from a demo service: `python scripts/screenshots.py`."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import ViewportSize, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE: ViewportSize = {"width": 1280, "height": 800}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PATIENCE = 120  # seconds until the demo's judges are scored
JUDGES = "Simulated judge F"  # the last one that the demo submits


def main() -> None:
    """Start the demo, wait until its judges are on the board, and write both pictures."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        settings = {"IDENTITY": "local", "PORT": str(port), "DATA_DIR": folder}
        service = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env={**os.environ, **settings})
        try:
            _wait_for_judges(f"http://127.0.0.1:{port}/")
            for scheme in SCHEMES:
                _write_picture(f"http://127.0.0.1:{port}/", scheme)
        finally:
            service.terminate()
            service.wait(30)


def _wait_for_judges(address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=5) as page:  # noqa: S310 (our own service)
                if JUDGES in page.read().decode():
                    return
        except OSError:
            pass
        time.sleep(0.5)
    raise TimeoutError(f"the demo's judges were not on the board after {PATIENCE} s")


def _write_picture(address: str, scheme: Literal["light", "dark"]) -> None:
    browser_path = next(
        filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")))
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme=scheme)
        page.goto(address)
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    IMAGES.mkdir(parents=True, exist_ok=True)
    picture.convert("RGB").save(IMAGES / f"board-{scheme}.webp", quality=82, method=6)


if __name__ == "__main__":
    main()
