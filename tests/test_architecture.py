"""What linters cannot say of the code: circles, sizes of folders and functions, one name and one place for a thing.

`[tool.importlinter]` in pyproject.toml has the arrows between packages and libraries; ruff counts parameters,
and says who reads the environment.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from importlinter.cli import lint_imports

from vlrb.benchmarks.spec_file import load_spec

ROOT = Path(__file__).parents[1]
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
PACKAGES: tuple[str, ...] = tuple(LINTER["root_packages"])
PROGRAM = (*PACKAGES, "bench", "scripts")
# what a command line or the core must never load, through whatever import
HEAVY = {"gradio", "pandas", "sqlalchemy", "plotly", "datasets"}


def files(*folders: str) -> Iterator[Path]:
    """Yield the files of folders, and those at the top."""
    yield from ROOT.glob("*.py")
    for folder in folders:
        yield from (ROOT / folder).rglob("*.py")


@cache  # several tests look at every node
def _nodes_of(text: str) -> dict[type[ast.AST], list[Any]]:
    nodes: dict[type[ast.AST], list[Any]] = {}
    for node in ast.walk(ast.parse(text)):
        nodes.setdefault(type(node), []).append(node)
    return nodes


def nodes_of(path: Path, *kinds: type[ast.AST]) -> Iterator[Any]:
    """Yield the nodes of these kinds in a file."""
    nodes = _nodes_of(path.read_text(encoding="utf-8"))
    for kind in kinds:
        yield from nodes.get(kind, ())


def test_every_import_follows_the_arrows() -> None:
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0


def imported_at_run_time() -> dict[str, set[str]]:
    """Module -> what it imports, at its top or inside functions; imports for types alone are left out."""
    modules = {_module(path): path for path in files(*PROGRAM)}
    imported: dict[str, set[str]] = {}
    for module, path in modules.items():
        names = imported[module] = set()
        for node in _run_nodes(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                inside = [f"{node.module}.{alias.name}" for alias in node.names]  # a module of it, or else a name in it
                names |= {name if name in modules else str(node.module) for name in inside}
    return imported


def _module(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")


def _run_nodes(node: ast.AST) -> Iterator[ast.AST]:
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _run_nodes(child)


def test_no_modules_import_one_another_in_a_circle_and_none_imports_tests() -> None:
    imported = imported_at_run_time()
    assert not [module for module, names in imported.items() if any(name.split(".")[0] == "tests" for name in names)]
    waiting = {module: names & set(imported) for module, names in imported.items()}
    while ready := [module for module, names in waiting.items() if not names & set(waiting)]:
        for module in ready:
            del waiting[module]
    assert not waiting, f"these import one another: {sorted(waiting)}"


MOST_FILES = 20  # of Python in one folder; more are sorted into folders by what they are about
MOST_LINES = 80  # of a function


def test_no_folder_has_more_files_than_a_reader_can_look_through() -> None:
    counts = {folder: len(list(folder.glob("*.py"))) for folder in {path.parent for path in files(*PROGRAM)}}
    assert not [folder for folder, count in counts.items() if count > MOST_FILES]


def test_modules_of_routes_and_queries_have_the_same_names_in_every_feature() -> None:
    other = re.compile(r"routes|query|\w+_(routes|pages?|api|query)")
    assert not [path for path in files(*PACKAGES) if other.fullmatch(path.stem)]


def test_no_function_is_longer_than_eighty_lines() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files(*PROGRAM)
        for node in nodes_of(path, ast.FunctionDef, ast.AsyncFunctionDef)
        if node.end_lineno - node.lineno >= MOST_LINES
    ]
    assert not long, long


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


def test_neither_process_loads_what_only_the_other_or_a_file_needs() -> None:
    of_files = {"pyarrow", "pandas", "huggingface_hub"}
    assert not {"gradio", "fastapi", "plotly", *of_files} & loaded_by("workers.main")
    assert not {"PIL", "yaml", *of_files} & loaded_by("leaderboard.board.pages")


# Parsing every test would take seconds.
TYPE_NAME = re.compile(r"^ *class (\w+)[(:]|^(?:type )?(_?[A-Z]\w*[a-z]\w*)(?:: TypeAlias)? = ", re.M)


def test_a_name_stands_for_one_class_or_type_alias() -> None:
    where: dict[str, list[str]] = {}
    for path in files(*PROGRAM, "tests"):
        for of_class, of_alias in TYPE_NAME.findall(path.read_text(encoding="utf-8")):
            where.setdefault(of_class or of_alias, []).append(path.relative_to(ROOT).as_posix())
    assert not {name: places for name, places in where.items() if len(places) > 1}


ELEMENTS = (
    "a abbr article aside b bdi body br button caption code dd details div dl dt em fieldset figcaption figure footer "
    "form h[1-6] head header hr html i iframe img input label legend li link main mark meta nav noscript ol optgroup "
    "option p pre script section select small span strong style sub summary sup svg table tbody td template textarea "
    "tfoot th thead time title tr u ul wbr"
)
TAG = re.compile(rf"</?({ELEMENTS.replace(' ', '|')})(?=[\s/>]|$)")
CHARTS = ("dot_plots", "histograms", "layout", "scatter_plots", "tag_chart")
"""Charts whose texts have the tags that Plotly draws."""


def test_html_is_written_by_templates() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in files(*PACKAGES) if any(map(TAG.search, _texts(path)))}
    assert found == {f"leaderboard/charts/{name}.py" for name in CHARTS}


def test_the_check_tells_html_from_other_words_in_brackets() -> None:
    for text in ("<span>x</span>", "<br>", '<a href="x">', "<p hidden>"):
        assert TAG.search(text), text
    for text in ("<answer>1</answer>", "<id>--v0-o", "a < b > c"):
        assert not TAG.search(text), text


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


# Where a word that names a category, a source or an overall figure stands for something else.
# "overall" here is what an earlier release called a level of disclosure, a key of kept evidence or
# of a report, not a figure of one benchmark, and "other" a value of a format, of a metric's label,
# or of an answer that no response is better.
OTHER_MEANINGS = {
    "vlrb/editions/edition.py": 1,
    "vlrb/label_quality/annotation.py": 1,
    "vlrb/numbers/definition_check.py": 1,
    "operation/metrics.py": 1,
    "review/annotation.py": 1,
}


def test_what_a_benchmark_defines_is_named_in_its_definition_alone() -> None:
    specs = [load_spec("vl-rewardbench"), load_spec("demo")]
    names = {name for spec in specs for name in (*spec.score_names, *spec.source_keys, *spec.tags)}
    found = {
        path.relative_to(ROOT).as_posix(): count
        for path in files(*PACKAGES)
        if (count := sum(node.value in names for node in nodes_of(path, ast.Constant)))
    }
    assert found == OTHER_MEANINGS


def test_the_table_of_packages_lists_all_of_them() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z]+)/` \|", text, re.MULTILINE)) == set(PACKAGES)
