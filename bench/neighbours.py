"""Latency of `/` while strangers loop what must be made for them: `python -m bench.neighbours [ROUNDS] [KIND ...]`.

A public service without rates, with 1,000 entries. Per kind 16 clients in a process of their own ask for what no cache
holds, or send an 18 MB file; beside them one client asks for `/` every few milliseconds. Idle and loaded periods take
turns, because the machine may be busy with other things.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from itertools import chain, count
from pathlib import Path
from urllib.request import urlopen

from bench.service import ROOT, fill, kept_alive, service
from vlrb.demo import demo_items, demo_pairs

ENTRIES, CLIENTS, SECONDS, PAUSE = 1_000, 16, 5.0, 0.005
FILE_BYTES, VOTES = 18_000_000, 8
_FIRST_WARM = 1.0  # seconds of a period that are not counted
Make = Callable[[int], str]
"""The address of the n-th request: one that no cache holds."""


def addresses(address: str) -> Mapping[str, Make]:
    """Return what is looped, by name."""
    with urlopen(f"{address}/api/v1/leaderboard?limit=500") as answer:
        body = json.load(answer)
    ids, judges = [entry["id"] for entry in body["entries"]], sorted({entry["judge"] for entry in body["entries"]})
    now = body["as_of"]
    return {
        "filtered board": lambda n: f"/?q=v{n}",
        "as_of": lambda n: f"/?as_of={now}&q=v{n}",
        "judges with weights": lambda n: f"/judges?w-vl-rewardbench={n % 900 / 100}&q=v{n}",
        "judge": lambda n: f"/judges/{judges[n % len(judges)]}?w-vl-rewardbench={n % 900 / 100}",
        "og.png": lambda n: f"/entries/{ids[n % len(ids)]}/og.png",
        "entry": lambda n: f"/entries/{ids[n % len(ids)]}",
        "LaTeX": lambda n: f"/export/board.tex?q=v{n}",
        "Markdown": lambda n: f"/export/board.md?q=v{n}",
        "CSV": lambda n: f"/export/board.csv?q=v{n}",
        "compare": lambda n: f"/compare?entries={ids[n % len(ids)]},{ids[n // len(ids) + n % 7]}",
        "analyse": lambda n: f"/analyse?entries={ids[n % len(ids)]},{ids[n // len(ids) + n % 7]}",
    }


def large_file(folder: Path) -> Path:
    """Return a file of 18 MB that the demo takes: judges' texts, eight a pair."""
    path, table = folder / "large.jsonl", demo_items(demo_pairs())
    names = [next(iter(item.ids.values())) for item in table.items]
    filler = "The first answer names what is there. " * (FILE_BYTES // len(names) // VOTES // 38)
    judgement = {"text": f"{filler}Overall Judgment: Answer 1 is better.", "swapped": False}
    lines = (json.dumps({"id": name, "judgements": [judgement] * VOTES}) for name in names)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def loop(address: str, paths: list[str], file: Path | None) -> None:
    """Ask for ever, by so many clients; with a file it is checked instead."""
    numbers, content = count(), None if file is None else file.read_bytes()

    def ask() -> None:
        connection = kept_alive(address)
        while True:
            path = paths[next(numbers) % len(paths)]
            try:
                connection.request("GET" if content is None else "POST", path, content)
                connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                connection.close()

    for _ in range(CLIENTS):
        threading.Thread(target=ask, daemon=True).start()
    time.sleep(600)


def front_times(address: str, seconds: float = SECONDS) -> list[float]:
    """Return the milliseconds that `/` took, again and again for a while."""
    connection, times, end = kept_alive(address), [], time.monotonic() + seconds
    while time.monotonic() < end:
        started = time.perf_counter()
        connection.request("GET", "/", headers={"Accept-Encoding": "br"})
        connection.getresponse().read()
        times.append((time.perf_counter() - started) * 1000)
        time.sleep(PAUSE)
    connection.close()
    return times


def p99(times: list[float]) -> float:
    """Return the 99th percentile."""
    return sorted(times)[int(len(times) * 0.99) - 1]


def beside(address: str, paths: list[str], file: Path | None) -> list[float]:
    """Return the times of `/` while the paths are looped."""
    load = multiprocessing.get_context("spawn").Process(target=loop, args=(address, paths, file), daemon=True)
    load.start()
    try:
        front_times(address, 2.0 + _FIRST_WARM)  # it starts an interpreter first
        return front_times(address)
    finally:
        load.kill()
        load.join()
        time.sleep(1)


def main(rounds: int, chosen: list[str]) -> None:
    """Print a line a kind."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        fill(folder, ENTRIES)
        with service(folder, REQUESTS_PER_MINUTE="0") as address:
            made = addresses(address)
            kinds = {kind: [make(n) for n in range(20_000)] for kind, make in made.items()}
            kinds["18 MB check"] = ["/api/v1/check"]
            file = large_file(folder)
            print("| looped by 16 clients | idle p50 | idle p99 | beside: p50 | p99 | p99 of each round |")
            print("|---" * 6 + "|")
            for kind, paths in kinds.items():
                if chosen and kind not in chosen:
                    continue
                idle, loaded = [], []
                for number in range(rounds):
                    idle.append(front_times(address))
                    part = paths[number * 3_000 :] + paths[: number * 3_000]
                    loaded.append(beside(address, part, file if kind == "18 MB check" else None))
                each = ", ".join(f"{p99(times):.0f}" for times in loaded)
                quiet, busy = list(chain(*idle)), list(chain(*loaded))
                print(
                    f"| {kind} | {statistics.median(quiet):.1f} | {p99(quiet):.1f} | {statistics.median(busy):.1f} "
                    f"| {p99(busy):.1f} | {each} |",
                    flush=True,
                )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2:])
