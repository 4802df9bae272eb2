"""A new field of the metadata is its declaration; everything else follows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.test_architecture import PACKAGES, ROOT

BEFORE = '    "tokens_in": '
DECLARATION = f"""    "license": Line(
        "Licence", help="under which the weights are", column=BoardColumn("Licence", "", "licence")
    ),
{BEFORE}"""
ASKED = """
import json, sys
import leaderboard.board.api, submissions.api
from leaderboard.ranking.rows import build_board
from leaderboard.ranking.search import term
from leaderboard.share.exports import as_csv, extract, fields
from leaderboard.ranking.parameters import BoardQuery
from scripts import doc_tables, generated
from storage import metadata
from storage.database import migrate, open_database
from storage.integrity import row_commitments
from submissions.metadata import parse_metadata
from tests.factories.snapshots import entry, snapshot
from tests.factories.specs import BY_KEY, VL
from workers import board_entries
from sqlalchemy import inspect

database = open_database(f"sqlite:///{sys.argv[1]}/x.db")
migrate(database)
facts = entry(1, 0.7, license="Apache-2.0")
board = build_board(snapshot([facts, entry(2, 0.6)]), VL)
print(json.dumps({
    "parsed": parse_metadata({"model": "J", "license": " MIT "})["license"] == "MIT",
    "table": "license" in {one["name"] for one in inspect(database.engine).get_columns("submissions")},
    "command": "license" in json.loads(generated.client_fields()),
    "rest": "license" in submissions.api._FORM["properties"],
    "snapshot": "license" in board_entries._NAMES,
    "commitment": "license" in row_commitments.DESCRIPTION,
    "entry page": ("Licence", "Apache-2.0") in metadata.facts(facts),
    "maintainers": metadata.label("license") == "Licence",
    "column": BY_KEY["license"].title == "Licence" and board.find(facts["id"]).value("license") == "Apache-2.0",
    "search": [row.id for row in board.rows if term("licence:apache", VL)(row)] == [facts["id"]],
    "api": "license" in leaderboard.board.api.columns(VL),
    "export": "license" in fields(VL) and b"Apache-2.0" in as_csv(extract(board, BoardQuery(VL))),
    "documentation": "`--license`" in doc_tables.TABLES["metadata"](),
}))
"""


def test_a_new_field_touches_one_file(tmp_path: Path) -> None:
    for name in (*PACKAGES, "scripts", "tests/factories"):  # with what is compiled: to compile all takes seconds
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*-pytest-*"))
    for path in (*ROOT.glob("*.py"), *(ROOT / "tests").glob("*.py")):
        shutil.copy2(path, tmp_path / path.relative_to(ROOT))
    declared = tmp_path / "storage" / "metadata.py"
    text = declared.read_text()
    assert text.count(BEFORE) == 1
    declared.write_text(text.replace(BEFORE, DECLARATION))
    ran = subprocess.run(
        [sys.executable, "-c", ASKED, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = json.loads(ran.stdout)
    assert [name for name, follows in found.items() if not follows] == []
