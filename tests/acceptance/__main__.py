"""`make acceptance`: every real prediction file through the whole service in a real browser, as a table.

For each label revision one service starts. Each file is dropped on the page, submitted, scored; its counts have to be
the ones that were counted from the tool's own output. Then its page and the board are looked at, on a phone and on a
wide screen, light and dark: without errors in the console, without findings of axe, without scrolling sideways.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.conftest import PATIENCE, chromium
from tests.factories.services.service import Service, running, until
from tests.real_data import SHARED

DATA = SHARED / "data"
LABELS = {"v0": "items_v0.jsonl", "v1": "items_v1.json", "v2": "labels_v2.jsonl"}
# Right on so many of the 1,247 pairs, as the files' authors state and as ties count: as undecided.
PUBLISHED = {"vl-reward-model_qwen2vl7b_judge.json": 538, "vl-reward-model_qwen2vl7b_reward.json": 826}
SCREENS = tuple(product(((390, 844), (1440, 900)), ("light", "dark")))
_GRAVE = ("serious", "critical")


@dataclass(frozen=True, slots=True)
class RealFile:
    """A file and the counts of right votes that it has to get: in each category, or altogether."""

    path: Path
    revision: str
    tally: dict[str, Any] | int


@dataclass(frozen=True, slots=True)
class WalkResult:
    """A row of the table. `problems`: what did not hold."""

    file: RealFile
    seconds: float
    overall: str
    problems: tuple[str, ...]

    def __str__(self) -> str:
        verdict = "; ".join(self.problems) or "ok"
        return f"{self.file.path.name:<40} {self.file.revision:<4} {self.seconds:6.1f} s  {self.overall:>6}  {verdict}"


def real_files() -> list[RealFile]:
    """Return all of them, by label revision."""
    tools = [
        RealFile(DATA / "tools" / known["file"], known["revision"], tally=known["tally"])
        for known in json.loads((DATA / "tools" / "expected.json").read_text())
    ]
    published = [RealFile(DATA / "predictions" / name, "v2", tally=right) for name, right in PUBLISHED.items()]
    return sorted([*tools, *published], key=lambda file: file.revision)


def walk(browser: Browser, service: Service, *, file: RealFile) -> WalkResult:
    """Submit a file as a person does, and look at what the public sees of it."""
    start, problems = time.monotonic(), list[str]()
    with _page(browser, problems) as page:
        entry = _submit(page, service, file=file)
    card = service.http.get(f"/api/v1{entry}").json()
    if not _as_expected(card["tally"], file.tally):
        problems.append(f"counts {card['tally']}")
    for (width, height), scheme in SCREENS:
        screen = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
        with _page(browser, problems, **screen) as page:
            for path in (entry, "/"):
                page.goto(service.url + path)
                expect(page.locator("body")).to_contain_text(file.path.name, timeout=PATIENCE)
                problems += [f"{path} {width} {scheme}: {finding}" for finding in _findings(page)]
    overall = card["protocols"]["strict"]["overall"]
    return WalkResult(file, time.monotonic() - start, overall=f"{100 * overall:.1f}", problems=tuple(problems))


def _submit(page: Page, service: Service, *, file: RealFile) -> str:
    """Return the path of the entry, which the page leads to when it is scored."""
    page.goto(f"{service.url}/app/submit")
    # Gradio's page stands there before it listens; who submits is what it says when it does.
    expect(page.locator("#visitor")).to_contain_text("under one name", timeout=PATIENCE)
    page.locator("#predictions input[type=file]").set_input_files(file.path)
    expect(page.locator("#submit")).to_be_enabled(timeout=PATIENCE)
    page.get_by_label("Model (required)").fill(file.path.name)
    page.locator("#submit").click()
    outcome = page.locator("#outcome [data-state=scored]")
    expect(outcome).to_contain_text("Macro", timeout=2 * PATIENCE)
    entry = outcome.get_by_role("link", name="Open the entry").get_attribute("href") or ""
    shown = page.context.new_page()
    until(lambda: shown.goto(service.url) and file.path.name in shown.content(), 60, what="the entry is on the board")
    return entry


def _as_expected(tally: dict[str, Any], expected: dict[str, Any] | int) -> bool:
    if isinstance(expected, int):
        return bool(sum(row["agree"] for row in tally.values()) == expected)
    return all(tally[name][field] == count for name, row in expected.items() for field, count in row.items())


def _findings(page: Page) -> list[str]:
    findings = [f"axe: {one['id']}" for one in Axe().run(page).response["violations"] if one["impact"] in _GRAVE]
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return findings + ([f"{wider} px too wide"] if wider > 0 else [])


@contextmanager
def _page(browser: Browser, problems: list[str], **options: Any) -> Iterator[Page]:
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    context.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    context.on("weberror", lambda failed: problems.append(str(failed.error)))
    yield context.new_page()
    context.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 where everything held, 2 where the files are not there."""
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance", description=__doc__)
    parser.add_argument("--revision", choices=LABELS, help="only files of this label revision")
    parser.add_argument("--files", type=int, help="so many files of each revision at most")
    options = parser.parse_args(arguments)
    if not DATA.exists() or chromium() is None:
        print(f"Needs real prediction files in {DATA} and Chromium.", file=sys.stderr)
        return 2
    chosen = [file for file in real_files() if options.revision in (None, file.revision)]
    results: list[WalkResult] = []
    with sync_playwright() as engine, tempfile.TemporaryDirectory() as folder:
        browser = engine.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        for revision, files in groupby(chosen, key=lambda file: file.revision):
            labels = f"{revision}={DATA / LABELS[revision]}"
            with running(Path(folder) / revision / "data", gradio=True, fresh=True, LABELS=labels) as service:
                for file in list(files)[: options.files]:
                    results.append(walk(browser, service, file=file))
                    print(results[-1], flush=True)
        browser.close()
    failed = sum(bool(result.problems) for result in results)
    print(f"{len(results)} files walked, {failed} with problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
