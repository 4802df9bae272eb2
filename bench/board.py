"""The board of the running service beside gradio_leaderboard with the same rows.

The service is `python app.py` with every middleware of a public one, its entries in its database, reported rows and
baselines included. In Chromium, with an empty cache: until the first row is visible, until a click has sorted (the way
to what is clicked is not counted), bytes until the page is quiet. With wrk: requests for the
page, 50 clients, one process. Without Chromium, wrk or the peer's environment, the lines say so.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, sync_playwright

from bench import service
from bench.measure import Measurement, in_ms, print_table, requests_per_second
from leaderboard.ranking.rows import Board
from vlrb.common.rounding import percent

ENTRIES = 10_000
FEW = 100
RUNS = 5
ROOT = Path(__file__).parents[1]
PEER = ROOT / ".venv-peer" / "bin" / "python"
_PEER_NAME = "gradio_leaderboard"
_QUIET_MS = 1500  # nothing more is expected when the network has been silent for so long
_FAR_MS = 100
_HAND_MS = 150  # between a pointer that has come to a heading or a menu, and its click
# The clock is in the page, so that neither the driver's way nor its patience is measured: it looks every frame, and
# stops after the frame that shows the text.
_CLOCK = """(() => {
  const visible = (text) => [...document.querySelectorAll("body *")].some((one) => {
    if (one.querySelector(":not(wbr)") || one.textContent.trim() !== text) return false;
    if (!one.checkVisibility({visibilityProperty: true})) return false;
    const at = one.getBoundingClientRect();
    return at.height > 4 && at.top >= 0 && at.top < innerHeight;
  });
  const clock = window.clock = {took: null};
  clock.until = (text, start) => {
    const look = () => {
      if (document.body && visible(text)) setTimeout(() => { clock.took = performance.now() - start; });
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  };
  clock.untilAfterClick = (text) => {
    clock.took = null;
    addEventListener("mousedown", () => clock.until(text, performance.now()), {once: true, capture: true});
  };
})();"""
_COLUMNS = (
    "Rank", "Judge", "Version", "From", "Macro", "Overall", "General", "Hallucination", "Reasoning", "K", "Decided",
    "Type", "Size", "Date",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BoardTiming:
    """Medians over the runs: seconds until the first row, and to sort; bytes of the first load."""

    first: float
    sort: float
    size: int


@dataclass(frozen=True, slots=True)
class Target:
    """A page that is served, how the pointer comes to what turns it round by macro when clicked, and the texts that
    are waited for: of the first row as the page comes, and after the click has sorted it. ``round_trip``: milliseconds
    of its line; then the click comes as soon as the pointer does."""

    address: str
    reach_sort: Callable[[Page], None]
    first: str
    after_sort: str
    round_trip: int = 0


def figures() -> Iterator[Measurement]:
    """Yield the table's lines about the board."""
    programs = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, programs)), None)
    if chromium is None:
        yield Measurement(f"the board with {ENTRIES:,} entries", "not measured: no Chromium")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield from _alone(browser, Path(folder))
        yield from _beside_peer(browser, Path(folder))
        browser.close()


def _alone(browser: Browser, folder: Path) -> Iterator[Measurement]:
    """Yield the service with few entries."""
    service.fill(folder, FEW)
    of = f"{FEW} entries"
    with service.service(folder) as address:
        ours = _our_target(browser, address)
        seen, far = _turns(browser, [ours, replace(ours, round_trip=_FAR_MS)])
        yield Measurement(f"first row visible, {of}", in_ms(seen.first))
        yield Measurement(f"sort, {of}", in_ms(seen.sort), asked="at most 40 ms")
        what = f"sort on a line of {_FAR_MS} ms, without a pointer before, {of}"
        yield Measurement(what, in_ms(far.sort), asked="at most 60 ms")
        yield Measurement(f"bytes of a first visit, {of}", _kb(seen.size), asked="at most 40 kB")
        yield _load_figure(of, requests_per_second(address))


def _beside_peer(browser: Browser, folder: Path) -> Iterator[Measurement]:
    """Yield the service with many entries, and gradio_leaderboard with the same rows."""
    service.fill(folder, ENTRIES)
    of = f"{ENTRIES:,} entries"
    with service.service(folder) as address:
        rows = _write_rows(folder, service.board_of(folder))
        yield from _compared(browser, _our_target(browser, address), folder=folder, rows=rows)
        rate, plain = requests_per_second(address), requests_per_second(address, "identity")
        yield _load_figure(of, rate, beside="" if plain is None else f"uncompressed: {plain:,.0f}")


def _compared(browser: Browser, ours: Target, *, folder: Path, rows: tuple[str, str]) -> Iterator[Measurement]:
    try:
        _make_peer()
        with _served(folder) as peer:
            mine, theirs = _turns(browser, [ours, Target(peer, _reach_leaderboard, *rows)])
    except (RuntimeError, Error) as error:
        reason = str(error).splitlines()[0]
        yield Measurement(f"beside {_PEER_NAME}", f"not measured: {reason}")
        return
    of = f"{ENTRIES:,} entries"
    for what, own, other in (("first row visible", mine.first, theirs.first), ("sort", mine.sort, theirs.sort)):
        ratio = f"{other / own:.1f} times sooner"
        yield Measurement(f"{what}, {of}", in_ms(own), beside=f"{_PEER_NAME}: {in_ms(other)}", ratio=ratio)
    beside, ratio = f"{_PEER_NAME}: {_kb(theirs.size)}", f"{mine.size / theirs.size:.3f}"
    yield Measurement(f"bytes of a first visit, {of}", _kb(mine.size), beside=beside, ratio=ratio, asked="at most 0.2")


def _write_rows(folder: Path, board: Board) -> tuple[str, str]:
    """Write the service's rows as a table for the peer, in the order of their macro averages; return the names in the
    first row and in the last."""
    ordered = sorted(
        (row for row in board.rows if row.value(board.headline) is not None), key=lambda row: -row.value(board.headline)
    )
    names = board.spec.headline_first
    rows = [
        [
            at, row.model, row.version, row.organisation,
            *(float(percent(value)) if (value := row.value(name)) is not None else None for name in names),
            row.votes_per_item, float(percent(row.decided_rate)) if row.decided_rate is not None else None,
            row.judge_type, row.parameters_b, row.date,
        ]
        for at, row in enumerate(ordered, 1)
    ]  # fmt: skip
    (folder / "rows.json").write_text(json.dumps({"columns": _COLUMNS, "rows": rows}))
    return ordered[0].model, ordered[-1].model


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    port = service.free_port()
    command = [str(PEER), str(ROOT / "bench" / "board_pages.py"), str(port), str(folder)]
    quiet = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    log, address = folder / "peer.log", f"http://127.0.0.1:{port}/"
    with service.started(command, log, environ=quiet) as process:
        service.wait_for(address, process, log=log)
        yield address


def _our_target(browser: Browser, address: str) -> Target:
    """Return which texts to wait for, found by a visit that is not counted."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address)
    page.wait_for_timeout(_QUIET_MS)
    before = _first_name(page)
    _reach_ours(page)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_timeout(_QUIET_MS)
    after = _first_name(page)
    context.close()
    if before == after:
        raise RuntimeError("a click on the heading did not sort the board")
    return Target(address, _reach_ours, before, after)


def _first_name(page: Page) -> str:
    return page.locator("tbody th[scope=row]").first.locator("a, i").first.inner_text().strip()


def _turns(browser: Browser, targets: Sequence[Target]) -> list[BoardTiming]:
    """They take turns, so that a drift of the machine meets them all; one round is not counted."""
    rounds = [[_seen(browser, target) for target in targets] for _ in range(RUNS + 1)][1:]
    return [
        BoardTiming(
            statistics.median(seen.first for seen in turns_of_round),
            statistics.median(seen.sort for seen in turns_of_round),
            size=round(statistics.median(seen.size for seen in turns_of_round)),
        )
        for turns_of_round in zip(*rounds, strict=True)
    ]


def _seen(browser: Browser, target: Target) -> BoardTiming:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    sizes: list[float] = []
    devtools.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    if target.round_trip:
        line = {"offline": False, "latency": target.round_trip, "downloadThroughput": -1, "uploadThroughput": -1}
        devtools.send("Network.emulateNetworkConditions", line)
    page.add_init_script(f"{_CLOCK} clock.until({json.dumps(target.first)}, 0)")
    page.goto(target.address)
    first = _took(page)
    page.wait_for_timeout(_QUIET_MS)
    size = round(sum(sizes))
    page.evaluate("text => clock.untilAfterClick(text)", target.after_sort)
    target.reach_sort(page)
    if not target.round_trip:
        page.wait_for_timeout(_HAND_MS)
    page.mouse.down()
    page.mouse.up()
    sort = _took(page)
    context.close()
    return BoardTiming(first, sort, size=size)


def _took(page: Page) -> float:
    """Return seconds on the clock in the page, as soon as it has stopped.

    Raises:
        RuntimeError: after a minute.
    """
    for _ in range(600):
        took = page.evaluate("clock.took")
        if took is not None:
            return float(took) / 1000
        page.wait_for_timeout(100)
    raise RuntimeError("what was waited for did not appear")


def _reach_ours(page: Page) -> None:
    page.locator("thead .macro a").hover()


def _reach_leaderboard(page: Page) -> None:
    page.locator("th", has_text="Macro").last.locator(".sort-button").hover()


def _load_figure(of: str, rate: float | None, *, beside: str = "") -> Measurement:
    what = f"requests/s of the page as br, {of}, one process, 50 clients"
    value = "not measured: wrk is not installed (apt install wrk)" if rate is None else f"{rate:,.0f}"
    return Measurement(what, value, beside=beside)


def _make_peer() -> None:
    """Make the peer's environment. Raises RuntimeError."""
    environment = {**os.environ, "PYTHON": sys.executable}
    process = subprocess.run([ROOT / "scripts" / "make_peer_env.sh"], env=environment, capture_output=True, text=True)
    if process.returncode:
        raise RuntimeError(process.stderr.strip().rpartition("\n")[2] or "no reason given")


def _kb(size: int) -> str:
    return f"{size / 1000:.0f} kB"


if __name__ == "__main__":
    print_table(figures())
