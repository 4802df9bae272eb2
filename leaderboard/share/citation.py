"""BibTeX of the benchmark, of the board at one moment, and of one entry. Pure."""

from __future__ import annotations

import re
from datetime import date

from leaderboard.board.rows import Board, BoardRow
from leaderboard.render import RULES
from leaderboard.share.escape import latex, one_line
from leaderboard.share.summary import summarize

# Authors, pages and venue: openaccess.thecvf.com (CVPR 2025); arXiv 2411.17451.
BENCHMARK = """@inproceedings{li2025vlrewardbench,
  title = {{VL-RewardBench}: A Challenging Benchmark for Vision-Language Generative Reward Models},
  author = {Li, Lei and Wei, Yuancheng and Xie, Zhihui and Yang, Xuqing and Song, Yifan and Wang, Peiyi and An, Chenxin
    and Liu, Tianyu and Li, Sujian and Lin, Bill Yuchen and Kong, Lingpeng and Liu, Qi},
  booktitle = {Proceedings of the Computer Vision and Pattern Recognition Conference (CVPR)},
  pages = {24657--24668},
  year = {2025},
  eprint = {2411.17451},
  archiveprefix = {arXiv},
  url = {https://arxiv.org/abs/2411.17451}
}
"""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def of_board(board: Board, address: str) -> str:
    """Return the board as it stood in one snapshot; ``address`` is permanent."""
    day = _day(board.as_of)
    number = f"{board.scored} {'entry' if board.scored == 1 else 'entries'}"
    note = f"{number} scored there, rule {RULES[board.protocol]}, labels {board.label_revision or 'none'}"
    demo = "Demo of the " if board.benchmark == "demo" else ""
    return _misc(
        f"vlrewardbench-board-{board.snapshot_id[:12] or 'empty'}",
        title=f"{latex(demo)}{{VL-RewardBench}} Leaderboard{f', Snapshot of {day.isoformat()}' if day else ''}",
        author="{VL-RewardBench Leaderboard}",
        day=day,
        note=latex(f"Snapshot {board.snapshot_id or 'none'}, {note}"),
        url=address,
    )


def of_entry(row: BoardRow, board: Board, address: str) -> str:
    """Return one entry. Its address never changes; what its numbers were, the snapshot in the note says."""
    said = summarize(row, board)
    spread = f" ({said.interval})" if said.interval else ""
    figures = f"{said.what.capitalize()} accuracy {said.value or 'unknown'}{spread}"
    if row.tier == "scored":
        figures += f", rule {RULES[board.protocol]}, labels {board.label_revision}, snapshot {board.snapshot_id}"
    else:
        figures += f", as reported in {row.source}"
    return _misc(
        f"vlrewardbench-{re.sub('[^A-Za-z0-9]+', '-', row.id)}",
        title=f"{{{latex(said.name)}}} on the {{VL-RewardBench}} Leaderboard",
        author=f"{{{latex(row.organisation)}}}" if row.organisation else "{VL-RewardBench Leaderboard}",
        day=_day(row.date),
        note=latex(figures),
        url=address,
    )


def _misc(key: str, *, title: str, author: str, day: date | None, note: str, url: str) -> str:
    when = [f"year = {{{day.year}}}", f"month = {_MONTHS[day.month - 1]}"] if day else []
    fields = [f"title = {{{title}}}", f"author = {{{author}}}", *when, f"note = {{{note}}}", f"url = {{{_url(url)}}}"]
    return f"@misc{{{key},\n  " + ",\n  ".join(fields) + "\n}\n"


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _url(address: str) -> str:
    """Ours, and percent-encoded already; braces would end the field."""
    return one_line(address).replace("{", "%7B").replace("}", "%7D")
