"""Command line `python -m maintenance`."""

from __future__ import annotations

import argparse
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

from auth import LOCAL, AuthError
from auth.settings import IdentitySettings
from leaderboard.explore.item_catalog import ItemCatalog
from leaderboard.ranking.reported_results import bundled_results
from maintenance import installation, space
from maintenance.action_context import ActionContext
from maintenance.cli import CliResult, add_actions
from operation.alarms import ServiceAlarm, service_alarms
from operation.restore import replicating_litestream
from settings import ServedSettings, Settings, SettingsError, WorkerSettings
from storage.database import Database, DatabaseNotMade, DatabaseUnusable, Session, open_migrated
from submissions.metadata import parse_metadata
from vlrb.benchmarks.item_texts import item_rows, item_text
from vlrb.benchmarks.items import LabelsError, load_table
from vlrb.benchmarks.pairs import build_table
from vlrb.benchmarks.spec_file import definitions_folder, load_spec
from vlrb.common.command_line import CommandParser, complain, say
from web.actions import ACTIONS


def run(arguments: list[str] | None) -> int:
    """Run one command; the exit status is 0 when it did what was asked."""
    options, unknown = command_line().parse_known_args(arguments)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        return int(options.files(options)) if options.command is None else _run(options)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else error
        complain(f"maintenance: {message}")
        return 1
    except (DatabaseUnusable, ValueError, LookupError, AuthError) as error:
        complain(f"maintenance: {error}")
        return 1


def command_line() -> argparse.ArgumentParser:
    """Return every command with its options."""
    parser = CommandParser(prog="python -m maintenance", description="Command line `python -m maintenance`.")
    text = "which of BENCHMARKS the command is about (default: the first)"
    parser.set_defaults(parser=parser)
    parser.add_argument("--benchmark", dest="served", default="", metavar="ID", help=text)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    manifest = commands.add_parser("manifest", help="build the item manifest from dataset files")
    manifest.add_argument("benchmark", help="the benchmark's name, such as vl-rewardbench")
    manifest.add_argument(
        "revision", nargs="+", metavar="REVISION=FILE", help="JSONL or JSON rows; the first defines the pairs"
    )
    manifest.add_argument("--output", type=Path, required=True)
    manifest.set_defaults(command=None, files=_manifest)
    items = commands.add_parser("items", help="from dataset files the texts for the explore page, without labels")
    items.add_argument("file", nargs="+", type=Path, metavar="FILE", help="JSONL or JSON rows of the dataset")
    items.add_argument("--items", type=Path, metavar="PATH", help="manifest of another benchmark")
    items.add_argument("--output", type=Path, required=True, help="what ITEMS_FILE is to name")
    items.set_defaults(command=None, files=_items)
    installation.add_commands(commands)
    space.add_commands(commands)
    add_actions(commands, ACTIONS)
    return parser


def _run(options: argparse.Namespace) -> int:
    """Return a command on the installation that the settings name."""
    settings = WorkerSettings.from_env(os.environ)
    try:
        database = open_migrated(settings.database_url, must_exist=True)
    except DatabaseNotMade:
        raise DatabaseNotMade(
            f"No service has run for the benchmark {settings.spec.id} in {settings.state_dir}. Set LABELS, "
            "DATA_DIR and DATABASE_URL in this shell as they are set for the service."
        ) from None
    try:
        served = settings.served_as(options.served)
        answer: CliResult = options.command(_context(settings, served, database=database), options)
    finally:
        database.close()
    print(json.dumps(answer.data, indent=1) if options.json else answer.text, flush=True)
    return 0 if answer.ok else 1


def _context(settings: WorkerSettings, served: ServedSettings, *, database: Database) -> ActionContext:
    """Return the local user, who has the database and may do everything."""
    return ActionContext(
        database=database,
        user=LOCAL,
        benchmark=served.id,
        parse=parse_metadata,
        paths=(settings.state_dir,),
        items=ItemCatalog(served.manifest_path, served.item_texts_path, spec=served.spec),
        shipped=partial(bundled_results, served.spec),
        identity=_identity(),
        public_events=ACTIONS.public_events(),
        alarms=partial(_alarms, settings=settings, served=served),
    )


def _alarms(session: Session, *, settings: WorkerSettings, served: ServedSettings) -> list[ServiceAlarm]:
    """Return the alarms that a shell can find, which has no web process to ask."""
    litestream = replicating_litestream(settings.database_url, settings.replica)
    benchmarks = {served.id: served.spec.title}
    return service_alarms(session, (settings.state_dir,), litestream=litestream, benchmarks=benchmarks)


def _identity() -> IdentitySettings | None:
    """Return who has which role, if this shell has the settings of sign-in."""
    try:
        return Settings.from_env(os.environ).identity
    except SettingsError:
        return None


def _manifest(options: argparse.Namespace) -> int:
    spec = load_spec(options.benchmark, definitions_folder(os.environ))
    named = dict(pair.split("=", 1) for pair in options.revision)
    try:
        table = build_table(spec, {name: _rows(Path(path)) for name, path in named.items()})
    except LabelsError as error:
        complain(f"maintenance: {error}")
        return 1
    options.output.write_text(manifest_text(table.to_json()))
    say(f"{options.output}: {len(table)} pairs, revisions {', '.join(table.revisions)}")
    return 0


def _items(options: argparse.Namespace) -> int:
    table = load_table(options.items)
    rows = list(item_rows((row for path in options.file for row in _rows(path)), table))
    options.output.write_text(item_text(rows), encoding="utf-8")
    say(f"{options.output}: {len(rows):,} of {len(table):,} pairs; set ITEMS_FILE={options.output.absolute()}")
    return 0


def manifest_text(manifest: dict[str, Any]) -> str:
    """Return one item a line, so that a change of the manifest reads as a change of its items."""
    items = ",\n".join(json.dumps(item, separators=(",", ":")) for item in manifest["items"])
    head = json.dumps({name: value for name, value in manifest.items() if name != "items"})
    return f'{head[:-1]}, "items": [\n{items}\n]}}\n'


def _rows(path: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    rows = (
        json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.split("\n") if line]
    )
    return list(rows)
