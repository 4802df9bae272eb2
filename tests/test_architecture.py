"""Holds the arrows: who may import whom, and which library is allowed where."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from vlrb.benchmarks.spec_file import load_spec

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "vlrb",
    "storage",
    "submissions",
    "workers",
    "leaderboard",
    "auth",
    "maintenance",
    "common",
    "receipts",
    "review",
    "web",
    "operation",
    "settings",
)
# Parts of vlrb with arrows of their own; the rest of it is the core, `vlrb`.
PARTS = (
    "vlrb.__main__",
    "vlrb.cli",
    "vlrb.client.jws",
    "vlrb.client",
    "vlrb.commands",
    "vlrb.common",
    "vlrb.predictions",
    "vlrb.readers",
    "vlrb.judge.images",
    "vlrb.judge",
    "vlrb.editions",
    "vlrb.benchmarks.label_files",
    "vlrb.benchmarks.hub_labels",
)

# package -> project packages it may import (wiring files may import everything); vlrb imports nothing of the service
LIBRARY = {"vlrb", "vlrb.common"}
READING = {*LIBRARY, "vlrb.predictions", "vlrb.readers"}
ARROWS: dict[str, set[str]] = {
    "vlrb.common": set(),
    "vlrb": set(),
    "vlrb.readers": {*LIBRARY, "vlrb.predictions"},
    "vlrb.predictions": {*LIBRARY, "vlrb.readers"},
    "vlrb.benchmarks.hub_labels": LIBRARY,
    "vlrb.benchmarks.label_files": {*LIBRARY, "vlrb.benchmarks.hub_labels"},
    "vlrb.commands": {*READING, "vlrb.benchmarks.label_files"},
    "vlrb.client.jws": {"vlrb.common"},
    "vlrb.client": {
        *READING,
        "vlrb.benchmarks.label_files",
        "vlrb.benchmarks.hub_labels",
        "vlrb.client.jws",
        "vlrb.commands",
    },
    "vlrb.__main__": {"vlrb.cli"},
    "vlrb.cli": {"vlrb.common", "vlrb.client", "vlrb.commands", "vlrb.judge", "vlrb.editions"},
    "vlrb.judge": {*READING, "vlrb.benchmarks.label_files", "vlrb.client", "vlrb.judge.images"},
    "vlrb.judge.images": {*LIBRARY, "vlrb.judge"},
    "vlrb.editions": {*READING, "vlrb.benchmarks.label_files", "vlrb.judge.images"},
    "common": {"vlrb.common"},
    "storage": {*LIBRARY, "common"},
    "auth": {*LIBRARY, "common", "storage"},
    "receipts": {*LIBRARY, "vlrb.client.jws", "vlrb.predictions", "common", "storage", "auth"},
    "submissions": {*READING, "common", "storage", "auth", "receipts", "operation"},
    "leaderboard": {*READING, "common", "storage", "auth"},
    "maintenance": {*LIBRARY, "common", "storage", "auth", "operation"},
    "review": {*LIBRARY, "common", "storage", "auth", "maintenance"},
    "operation": {"vlrb.common", "common", "storage", "auth"},
    "settings": {*LIBRARY, "common", "storage", "auth", "operation"},
    "workers": {
        *READING,
        "vlrb.editions",
        "vlrb.benchmarks.label_files",
        "vlrb.benchmarks.hub_labels",
        "vlrb.commands",
        "common",
        "storage",
        "operation",
        "settings",
    },
}
GROUPS = {*PACKAGES, *PARTS}
ARROWS["web"] = GROUPS - {
    "vlrb.judge",
    "vlrb.editions",
    "vlrb.benchmarks.label_files",
}  # the composition root; app.py alone imports it
WIRING = {
    "app.py",
    "vlrb/__init__.py",  # the names of vlrb/commands/interface.py, at their first use
    "workers/command_line.py",
    "maintenance/command_line.py",
    "maintenance/installation.py",
    "maintenance/space_commands.py",
}
# start-up passes the environment on to child processes, the command line a token; the parser's child process gets
# a search path and nothing else of the environment
ENVIRONMENT_READERS = WIRING | {
    "vlrb/common/command_line.py",  # the language of the terminal
    "maintenance/space_commands.py",
    "web/startup.py",
    "workers/item_files.py",
    "submissions/sandbox.py",
    "vlrb/cli.py",
    "vlrb/client/connection.py",
    "vlrb/client/items.py",
    "vlrb/commands/check.py",
    "vlrb/commands/interface.py",
    "vlrb/commands/numbers.py",
    "vlrb/commands/score.py",
    "vlrb/judge/command_line.py",
    "vlrb/editions/command_line.py",
}
CORE_LIBRARIES = {"numpy", "scipy"}

# library -> the only files that may import it; a name without a slash is any file of that name
LIBRARY_USERS: dict[str, tuple[str, ...]] = {
    "gradio": (
        "web/gradio_app.py",
        "submissions/gradio_page.py",
        "leaderboard/theme.py",
    ),
    "plotly": ("leaderboard/charts/",),
    "fastapi": (
        "api.py",
        "routes.py",
        "role_routes.py",
        "submissions/pages.py",
        "leaderboard/pages/decisions.py",
        "leaderboard/pages/judges.py",
        "leaderboard/board/pages_of_rows.py",
        "app.py",
        "auth/",
        "web/",
        "leaderboard/pages/routes.py",
    ),
    "babel": ("vlrb/common/translations.py",),
    "sqlalchemy": (
        "storage/",
        "operation/",
        "queries.py",
        "maintenance/database/account_queries.py",
        "maintenance/database/approval_queries.py",
        "maintenance/database/entry_queries.py",
        "submissions/service.py",
        "submissions/api.py",
        "workers/",
    ),
    "alembic": ("storage/",),
    "apscheduler": ("workers/schedule.py",),
    "pandas": ("vlrb/commands/interface.py", "vlrb/editions/"),
    "datasets": ("workers/", "vlrb/editions/folder/hub.py"),
    "openai": ("vlrb/judge/endpoint.py",),
    "openpyxl": ("vlrb/readers/xlsx.py",),
    "tenacity": ("vlrb/judge/engine.py",),
    "huggingface_hub": (
        "vlrb/benchmarks/hub_labels.py",
        "workers/",
        "leaderboard/share/hub_eval_results.py",
        "submissions/hub_model.py",
        "vlrb/editions/folder/hub.py",
        "maintenance/space.py",
        "maintenance/space_commands.py",
    ),
    "pyarrow": (
        "vlrb/benchmarks/label_files.py",
        "vlrb/client/items.py",
        "storage/files/object_store.py",
        "workers/",
        "exports.py",
        "vlrb/readers/inspect_log.py",
        "vlrb/predictions/containers.py",
        "vlrb/editions/folder/hub.py",
    ),
    "PIL": (
        "leaderboard/share/og_image.py",
        "leaderboard/share/fonts.py",
        "vlrb/judge/images.py",
        "vlrb/judge/askers.py",
        "vlrb/editions/pools/images.py",
    ),
    "imagehash": ("vlrb/editions/pools/images.py",),
    "datasketch": ("vlrb/editions/pools/near_duplicates.py",),
}
# what a command line or the core must never load, through whatever import
HEAVY = {"gradio", "pandas", "sqlalchemy", "plotly", "datasets"}


class Import(NamedTuple):
    """One import in a file of the project."""

    path: str  # relative, with slashes
    line: int
    name: str  # dotted


@cache  # several tests read every file
def _parse(text: str) -> ast.Module:
    return ast.parse(text)


def _tree(path: Path) -> ast.Module:
    return _parse(path.read_text(encoding="utf-8"))


@cache  # several tests look at every node
def _nodes_of(text: str) -> dict[type[ast.AST], list[Any]]:
    nodes: dict[type[ast.AST], list[Any]] = {}
    for node in ast.walk(_parse(text)):
        nodes.setdefault(type(node), []).append(node)
    return nodes


def nodes_of(path: Path, *kinds: type[ast.AST]) -> Iterator[Any]:
    """Yield the nodes of these kinds in a file."""
    nodes = _nodes_of(path.read_text(encoding="utf-8"))
    for kind in kinds:
        yield from nodes.get(kind, ())


def imports(root: Path) -> Iterator[Import]:
    files = [*root.glob("*.py"), *(path for package in PACKAGES for path in (root / package).rglob("*.py"))]
    for path in files:
        relative = path.relative_to(root).as_posix()
        for node in nodes_of(path, ast.Import, ast.ImportFrom):
            if isinstance(node, ast.Import):
                yield from (Import(relative, node.lineno, name=alias.name) for alias in node.names)
            elif node.level:
                yield Import(relative, node.lineno, name="." * node.level + (node.module or ""))
            else:
                for alias in node.names:
                    yield Import(relative, node.lineno, name=f"{node.module}.{alias.name}")


def broken(found: Import) -> str | None:
    """Return which rule an import breaks; None if it breaks none."""
    package = group(found.path.replace("/", ".")) if "/" in found.path else ""
    library, target = found.name.split(".")[0], group(found.name)
    if found.name.startswith("."):
        return "relative imports hide where an arrow points"
    if library in LIBRARY_USERS and not any(_is_at(found.path, place) for place in LIBRARY_USERS[library]):
        return f"{library} belongs in {', '.join(LIBRARY_USERS[library])}"
    if found.path in WIRING or not package:
        return None
    if package == "vlrb" and found.name.startswith("vlrb.common.messages."):
        return None  # sentences that can be translated; as pure as the core
    if package == "vlrb" and target != "vlrb" and not _is_core(library):
        return "the core imports the standard library, numpy and scipy only"
    if library == "scipy" and found.name.startswith("scipy.stats"):
        return "importing scipy.stats costs a second; scipy.special has what is needed"
    if target in GROUPS and target not in ARROWS[package] | {package}:
        return f"{package} may import {', '.join(sorted(ARROWS[package])) or 'no other package'}"
    if library in ("app", "tests", "bench"):
        return "nothing imports the wiring or the tests"
    return None


def group(name: str) -> str:
    """Return the package of a dotted module, or the part of vlrb that it is in."""
    return next((part for part in PARTS if name == part or name.startswith(f"{part}.")), name.split(".")[0])


def _is_at(path: str, place: str) -> bool:
    if place.endswith("/"):
        return path.startswith(place)
    return path == place or ("/" not in place and path.rpartition("/")[2] == place)


def _is_core(library: str) -> bool:
    return library in CORE_LIBRARIES or library in sys.stdlib_module_names


def environment_reads(root: Path) -> Iterator[str]:
    """Yield files that read the environment by themselves."""
    files = [*root.glob("*.py"), *(path for package in PACKAGES for path in (root / package).rglob("*.py"))]
    for path in files:
        for node in nodes_of(path, ast.Attribute):
            if node.attr in ("environ", "getenv", "environb"):
                yield path.relative_to(root).as_posix()


def test_every_import_follows_the_arrows() -> None:
    wrong = [
        f"{found.path}:{found.line} imports {found.name}: {why}" for found in imports(ROOT) if (why := broken(found))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("vlrb/x.py", "import sqlalchemy"),
        ("vlrb/x.py", "from vlrb.common.translations import translations"),
        ("submissions/x.py", "import babel"),
        ("vlrb/x.py", "import orjson"),
        ("vlrb/x.py", "from storage.models.queue import Job"),
        ("vlrb/x.py", "from scipy.stats import norm"),
        ("storage/x.py", "import vlrb.predictions.parse"),
        ("submissions/x.py", "from leaderboard.board import rows"),
        ("vlrb/predictions/parse.py", "import gradio as gr"),
        ("submissions/x.py", "from vlrb.benchmarks.label_files import load_labels"),
        ("leaderboard/board/rows.py", "import plotly.graph_objects as go"),
        ("leaderboard/board/rows.py", "from fastapi import APIRouter"),
        ("leaderboard/board/rows.py", "def late():\n    import pandas"),
        ("workers/jobs/score.py", "from submissions.service import SubmissionService"),
        ("workers/runner.py", "import fastapi"),
        ("workers/runner.py", "import apscheduler.schedulers.background"),
        ("leaderboard/routes.py", "from .board import build_board"),
        ("submissions/x.py", "import app"),
        ("web/x.py", "import app"),
        ("maintenance/x.py", "from web.services import Services"),
        ("maintenance/page/sections.py", "from review import sections"),
        ("maintenance/actions/task_retry.py", "from review import drafts"),
        ("submissions/x.py", "from vlrb.judge.prompts import OFFICIAL"),
        ("vlrb/judge/x.py", "from submissions.service import SubmissionService"),
        ("vlrb/judge/engine.py", "import openai"),
        ("vlrb/editions/x.py", "from review.actions.projects import create"),
        ("vlrb/judge/x.py", "from vlrb.editions.pools.pool import read_pool"),
        ("vlrb/editions/x.py", "from vlrb.judge.engine import JudgeEngine"),
    ],
)
def test_the_check_notices_a_broken_arrow(tmp_path: Path, path: str, line: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(line)
    assert [found.path for found in imports(tmp_path) if broken(found)] == [path]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("vlrb/x.py", "from vlrb.common.messages import _, ngettext"),
        ("vlrb/x.py", "import json, numpy\nfrom scipy.special import ndtri\nfrom vlrb.benchmarks.items import Item"),
        (
            "workers/command_line.py",
            "from vlrb.predictions.parse import parse_predictions\nfrom settings import Settings",
        ),
        ("workers/jobs/score.py", "from vlrb.predictions.parse import parse_predictions"),
        ("web/gradio_app.py", "import gradio\nfrom submissions.gradio_page import build"),
        ("app.py", "from web.app import create_app"),
    ],
)
def test_the_check_lets_a_legal_import_pass(tmp_path: Path, path: str, line: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(line)
    assert not [found for found in imports(tmp_path) if broken(found)]


def imported_at_run_time(folders: Sequence[str]) -> dict[str, set[str]]:
    """Module -> what it imports, at its top or inside functions; imports for types alone are left out."""
    paths = [*ROOT.glob("*.py"), *(path for folder in folders for path in (ROOT / folder).rglob("*.py"))]
    files = {_module(path): path for path in paths}
    imported: dict[str, set[str]] = {}
    for module, path in files.items():
        names = imported[module] = set()
        for node in _run_nodes(_tree(path)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                inside = [f"{node.module}.{alias.name}" for alias in node.names]  # a module of it, or else a name in it
                names |= {name if name in files else str(node.module) for name in inside}
    return imported


def _module(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


def _run_nodes(node: ast.AST) -> Iterator[ast.AST]:
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _run_nodes(child)


def test_no_modules_import_one_another_in_a_circle() -> None:
    imported = imported_at_run_time(PROGRAM)
    waiting = {module: names & set(imported) for module, names in imported.items()}
    while ready := [module for module, names in waiting.items() if not names & set(waiting)]:
        for module in ready:
            del waiting[module]
    assert not waiting, f"these import one another: {sorted(waiting)}"


def test_benchmarks_import_no_tests() -> None:
    imported = imported_at_run_time(["bench"])
    assert not [module for module, names in imported.items() if any(name.split(".")[0] == "tests" for name in names)]


def test_votes_are_read_where_they_are_compared_with_their_commitment() -> None:
    readers = {
        path.relative_to(ROOT).as_posix()
        for folder in PROGRAM
        for path in (ROOT / folder).rglob("*.py")
        if "Submission.votes" in path.read_text(encoding="utf-8").replace("Submission.votes_per_item", "")
    }
    assert not readers, f"storage/integrity/stored_votes.py reads votes; so do {sorted(readers)}"


MOST_FILES = 22  # of Python in one folder; more are sorted into folders by what they are about


def test_no_folder_has_more_files_than_a_reader_can_look_through() -> None:
    folders = {path.parent for folder in PROGRAM for path in (ROOT / folder).rglob("*.py")}
    counts = {folder.relative_to(ROOT).as_posix(): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_only_the_wiring_reads_the_environment() -> None:
    readers = set(environment_reads(ROOT)) - ENVIRONMENT_READERS
    assert not readers, f"settings are an argument; these files read os.environ: {sorted(readers)}"


def loaded_by(module: str) -> set[str]:
    """Top-level names of everything that importing a module loads, in a fresh interpreter."""
    code = f"import {module}, sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return set(ran.stdout.split())


@pytest.mark.parametrize(
    "module", ["vlrb.commands.check", "vlrb.client.verify", "vlrb.predictions.parse", "vlrb.scorecard"]
)
def test_light_modules_load_nothing_heavy(module: str) -> None:
    assert not HEAVY & loaded_by(module)


def test_commands_load_their_libraries_where_an_interrupt_ends_them_quietly() -> None:
    programs = ("vlrb", "maintenance", "workers")
    loaded = set().union(*(loaded_by(f"{program}.__main__") for program in programs))
    assert not {"numpy", "openai", "PIL", "sqlalchemy"} & loaded


def test_the_worker_loads_no_gradio() -> None:
    assert not {"gradio", "fastapi", "plotly"} & loaded_by("workers.command_line")


# Parsing every test would take seconds.
TYPE_NAME = re.compile(r"^ *class (\w+)[(:]|^(?:type )?(_?[A-Z]\w*[a-z]\w*)(?:: TypeAlias)? = ", re.M)


def type_names(text: str) -> list[str]:
    """Return the names of the classes of a file, and of its type aliases and type variables."""
    return [of_class or of_alias for of_class, of_alias in TYPE_NAME.findall(text)]


def test_a_name_stands_for_one_class_or_type_alias() -> None:
    where: dict[str, list[str]] = {}
    folders = [*PACKAGES, "bench", "tests", "scripts"]
    for path in [*ROOT.glob("*.py"), *(path for folder in folders for path in (ROOT / folder).rglob("*.py"))]:
        for name in type_names(path.read_text(encoding="utf-8")):
            where.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    several = {name: places for name, places in where.items() if len(places) > 1}
    assert not several


def test_names_of_types_are_those_of_classes_and_of_aliases() -> None:
    text = "class Row(Base):\nRows = Sequence[Row]\ntype Counts = dict[str, int]\n_T = TypeVar('_T')\nMOST = 3\n"
    assert type_names(text) == ["Row", "Rows", "Counts"]


ELEMENTS = (
    "a abbr article aside b bdi body br button caption code dd details div dl dt em fieldset figcaption figure footer "
    "form h[1-6] head header hr html i iframe img input label legend li link main mark meta nav noscript ol optgroup "
    "option p pre script section select small span strong style sub summary sup svg table tbody td template textarea "
    "tfoot th thead time title tr u ul wbr"
)
TAG = re.compile(rf"</?({ELEMENTS.replace(' ', '|')})(?=[\s/>]|$)")
HTML_IN_PYTHON = {
    "leaderboard/charts/board_charts.py",  # <b> and <br> in texts of a figure are Plotly's
    "leaderboard/charts/dot_plots.py",  # the same
    "leaderboard/charts/histograms.py",
    "leaderboard/charts/layout.py",  # the same, and <span> for small letters
    "leaderboard/charts/scatter_plots.py",  # the same
    "leaderboard/charts/tag_chart.py",  # the same
}


def test_html_is_written_by_templates() -> None:
    paths = [*ROOT.glob("*.py"), *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))]
    found = {path.relative_to(ROOT).as_posix() for path in paths if any(map(TAG.search, _texts(path)))}
    assert found == HTML_IN_PYTHON


@pytest.mark.parametrize(
    "line", ['x = f"<span>{name}</span>"', 'x = "<br>"', "x = f'<a href=\"{url}\">'", 'x = ("<p" + " hidden>")']
)
def test_the_check_notices_html_in_a_module(tmp_path: Path, line: str) -> None:
    file = tmp_path / "x.py"
    file.write_text(line)
    assert any(map(TAG.search, _texts(file)))


@pytest.mark.parametrize("line", ['x = "<answer>1</answer>"', 'x = "<id>--v0-o"', '"""Write <b>."""', "x = a < b > c"])
def test_the_check_lets_other_words_in_brackets_pass(tmp_path: Path, line: str) -> None:
    file = tmp_path / "x.py"
    file.write_text(line)
    assert not any(map(TAG.search, _texts(file)))


def _texts(path: Path) -> Iterator[str]:
    """Yield the strings of a file without its docstrings; an f-string is one, with `x` for each value.

    Bytes are left out: they are what is looked for in a page.
    """
    statements = {id(node.value) for node in nodes_of(path, ast.Expr)}
    for node in nodes_of(path, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    for node in nodes_of(path, ast.Constant):
        if isinstance(node.value, str) and id(node) not in statements:
            yield node.value


def test_no_line_of_a_template_is_too_long_to_read() -> None:
    templates = [path for package in PACKAGES for path in (ROOT / package).rglob("*.html")]
    lines = [(path, len(line)) for path in templates for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(templates) > 20
    assert [(path.relative_to(ROOT).as_posix(), length) for path, length in lines if length > 160] == []


def test_scores_are_rounded_in_one_place_so_that_every_page_and_command_prints_the_same() -> None:
    """Formats round 81.25 down, and the board rounds it up."""
    packages = ("submissions", "workers", "maintenance", "leaderboard", "receipts", "auth")
    paths = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    own = [path.relative_to(ROOT) for path in paths if re.search(r"100 \* [^}\n]*:\.1f", path.read_text("utf-8"))]
    charts = (ROOT / "leaderboard" / "charts").rglob("*.py")
    own += [path.relative_to(ROOT) for path in charts if re.search(r":\+?\.1f\}", path.read_text("utf-8"))]
    assert own == []


MOST_PARAMETERS = 6
MOST_LINES = 80  # of a function
PROGRAM = (*PACKAGES, "bench", "scripts")


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many values a function takes, beside the object that it belongs to."""
    taken = function.args
    named = (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)
    names = [parameter.arg for parameter in named if parameter.arg not in ("self", "cls")]
    return len(names) + (taken.vararg is not None) + (taken.kwarg is not None)


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield where each function of the program is, and the function."""
    for path in [*ROOT.glob("*.py"), *(path for folder in PROGRAM for path in (ROOT / folder).rglob("*.py"))]:
        for node in nodes_of(path, ast.FunctionDef, ast.AsyncFunctionDef):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node


def test_no_function_takes_more_than_six_parameters() -> None:
    many = [place for place, function in functions() if parameters(function) > MOST_PARAMETERS]
    assert not many, many


# Where a word that names a category, a source or an overall figure stands for something else.
# "overall" here is what an earlier release called a level of disclosure, a key of kept evidence or
# of a report, not a figure of one benchmark, and "other" a value of a format, of a metric's label,
# or of an answer that no response is better.
OTHER_MEANINGS = {
    "vlrb/editions/folder/hub.py": 1,
    "vlrb/label_quality/annotation.py": 1,
    "vlrb/numbers/definition_check.py": 1,
    "leaderboard/share/every_eval_ever.py": 1,
    "operation/request_metrics.py": 1,
    "review/pages.py": 1,
}


def names_of_the_definitions() -> set[str]:
    specs = [load_spec("vl-rewardbench"), load_spec("demo")]
    return {name for spec in specs for name in (*spec.score_names, *spec.source_keys, *spec.tags)}


def test_what_a_benchmark_defines_is_named_in_its_definition_alone() -> None:
    names = names_of_the_definitions()
    found: dict[str, int] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            where = path.relative_to(ROOT).as_posix()
            count = sum(node.value in names for node in nodes_of(path, ast.Constant))
            if count:
                found[where] = count
    assert found == OTHER_MEANINGS


def test_no_function_is_longer_than_eighty_lines() -> None:
    long = [place for place, node in functions() if (node.end_lineno or 0) - node.lineno >= MOST_LINES]
    assert not long, long


def raised(docstring: str) -> Iterator[str]:
    """Yield the names of exceptions in a docstring: in a sentence, and in a section `Raises`."""
    yield from re.findall(r"\bRaises? ([A-Z]\w+)", docstring)
    for names in re.findall(r"^    ([A-Z][\w, ]+):", docstring.partition("Raises:\n")[2], re.MULTILINE):
        yield from names.split(", ")


def test_an_exception_in_a_docstring_is_a_class_that_exists() -> None:
    files = [path for folder in PROGRAM for path in (ROOT / folder).rglob("*.py")]
    known = {node.name for path in files for node in nodes_of(path, ast.ClassDef)} | set(dir(builtins))
    known |= {
        alias.name.rpartition(".")[2]
        for path in files
        for node in nodes_of(path, ast.ImportFrom)
        for alias in node.names
    }
    wrong = [
        f"{place}: {name}"
        for place, node in functions()
        for name in raised(ast.get_docstring(node) or "")
        if name not in known
    ]
    assert not wrong, wrong


def test_the_table_of_packages_lists_what_each_may_import() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+)/` \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    assert {package for package, _ in rows} == set(PACKAGES)
    documented = {package: {word for word in re.findall(r"[a-z]+", cell) if word in PACKAGES} for package, cell in rows}
    for package in set(PACKAGES) - {"web"}:  # in words: everything but three
        allowed = {name.split(".")[0] for name in ARROWS[package]}
        assert documented[package] - {"common", "vlrb"} == allowed - {"common", "vlrb"}, package


def test_every_folder_with_python_is_looked_at() -> None:
    folders = {path.parent.name for path in ROOT.glob("[!.]*/*.py")}
    assert folders == {*PROGRAM, "tests"}
