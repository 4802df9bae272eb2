"""The documentation names everything that can be set or called, and nothing that does not exist."""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from maintenance.command_line import command_line
from scripts import doc_tables
from tests.test_architecture import PACKAGES, PROGRAM, imported_at_run_time
from vlrb.cli import COMMANDS as COMMANDS_OF_VLRB
from vlrb.cli import command_line as library_command_line

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LIBRARY, SUBMITTING, MAINTAINING, REST_API, JUDGING, CURATING = (
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("library", "submitting", "maintaining", "rest-api", "judging", "curating")
)
GUIDES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *(ROOT / "docs").glob("*.md")]
GUIDES += sorted((ROOT / "docs" / "decisions").glob("*.md"))
RECORDS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
IN_CHINESE = [ROOT / "README_zh-CN.md", *(ROOT / "docs" / "zh-CN").glob("*.md")]


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len(README.splitlines()) <= 120
    assert len(README.split()) <= 900


@pytest.mark.parametrize("guide", [*GUIDES, *IN_CHINESE], ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    missing = [one for one in targets if "://" not in one and not (guide.parent / one).exists()]
    assert not missing


@pytest.mark.parametrize("guide", IN_CHINESE, ids=lambda path: path.name)
def test_a_chinese_document_has_the_commands_examples_and_options_of_its_original(guide: Path) -> None:
    original = ROOT / "README.md" if guide.parent == ROOT else ROOT / "docs" / guide.name
    assert _examples(guide) == _examples(original)
    assert _options(guide) >= _options(original)


def _examples(document: Path) -> list[str]:
    """Return what stands in fences, without the comments of shell commands."""
    blocks = re.findall(r"^```.*?^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [re.sub(r" +# .*", "", block) for block in blocks]


def _options(document: Path) -> set[str]:
    """Return options, fields and addresses in words between back quotes."""
    return set(re.findall(r"`([-/a-z][-/a-z0-9_.?={}&]*)`", document.read_text(encoding="utf-8")))


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.name[:4])
def test_a_decision_record_has_one_form_and_half_a_page(record: Path) -> None:
    lines = record.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(f"# {int(record.name[:4])}. ")
    assert lines[2].startswith("Status: ")
    assert [line for line in lines if line.startswith("##")] == ["## Decision", "## Context", "## Consequences"]
    assert len(lines) <= 45


def test_the_index_lists_every_decision_record_by_its_title() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\d{4})\]\((.+)\) \| (.+) \|$", index, re.MULTILINE)
    titles = [record.read_text(encoding="utf-8").splitlines()[0] for record in RECORDS]
    assert [(name, f"# {int(number)}. {title}") for number, name, title in rows] == [
        (record.name, title) for record, title in zip(RECORDS, titles, strict=True)
    ]


def test_the_files_to_touch_exist() -> None:
    """What guides name in code is there."""
    text = "".join(guide.read_text(encoding="utf-8") for guide in GUIDES)
    named = re.findall(rf"`((?:{'|'.join(PROGRAM)})/[a-z_0-9./-]+)`", text)
    assert named
    assert not [one for one in named if not (ROOT / one).exists()]


@pytest.mark.parametrize("document", doc_tables.documents(), ids=lambda path: path.name)
def test_tables_that_follow_from_code_are_written_anew(document: Path) -> None:
    """`python -m scripts.doc_tables` does so."""
    text = document.read_text(encoding="utf-8")
    assert doc_tables.filled(text) == text


@pytest.mark.parametrize("name", doc_tables.TABLES)
def test_every_such_table_stands_in_a_document(name: str) -> None:
    assert any(f"<!-- {name} -->" in path.read_text(encoding="utf-8") for path in doc_tables.documents())


def targets() -> list[str]:
    return re.findall(r"^([a-z]+):(?=.*## )", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("target", targets())
def test_every_make_target_is_named(target: str) -> None:
    assert f"`make {target}`" in CONTRIBUTING


def commands_of(parser: argparse.ArgumentParser, *words: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield words and parser of every command that does something."""
    below = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not below:
        yield " ".join(words), parser
    for one in below:
        for name, child in one.choices.items():
            yield from commands_of(child, *words, name)


@pytest.mark.parametrize(
    ("program", "guides"),
    [
        *((f"vlrb {name}", LIBRARY + SUBMITTING) for name in COMMANDS_OF_VLRB if name not in ("judge", "edition")),
        *(("vlrb judge", JUDGING + SUBMITTING), ("vlrb edition", CURATING), ("python -m maintenance", MAINTAINING)),
    ],
)
def test_every_command_and_every_option_is_named(program: str, guides: str) -> None:
    parser = command_line() if program.endswith("maintenance") else library_command_line(program.split()[1])
    missing = []
    for words, command in commands_of(parser):
        options = {name for action in command._actions for name in action.option_strings if name.startswith("--")}
        whole = {name: rf"{name}(?![\w-])" for name in options - {"--help"}}
        missing += [f"{words} {name}" for name, pattern in whole.items() if not re.search(pattern, guides)]
        named = (f"{program} {words}".strip(), f"`{words}" if words else "")
        missing += [] if any(name and name in guides for name in named) else [words]
    assert not missing


def test_every_command_of_operators_that_a_guide_names_is_real() -> None:
    known = {words for words, _parser in commands_of(command_line())}
    areas = "|".join({words.split()[0] for words in known if " " in words})
    text = "".join(guide.read_text(encoding="utf-8") for guide in GUIDES)
    assert set(re.findall(rf"(?:`|python -m maintenance )((?:{areas}) [a-z-]+)", text)) <= known
    assert not re.findall(r"python -m workers [a-z]+", text), "a worker takes no command"


def test_every_route_of_the_interface_is_real() -> None:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    sources = "".join(path.read_text(encoding="utf-8") for path in files)
    for route in set(re.findall(r"/api/v1/([a-z]+)", README + REST_API + SUBMITTING)):
        assert re.search(rf'"(?:/api/v1)?/{route}\b', sources), route


LISTS = ("requirements", "requirements-dev")


def test_requirements_are_pinned_exactly_and_the_lock_holds_them_with_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    for line in (line for name in LISTS for line in pinned(name)):
        assert re.fullmatch(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==[0-9][^ ]*", line), line
        package, _, version = re.sub(r"\[.*\]", "", line).partition("==")
        pin = rf"^{re.escape(package.lower())}(\[[a-z,]+\])?=={re.escape(version)} "
        assert re.search(pin, lock, re.MULTILINE), line
    assert lock.count("--hash=sha256:") > lock.count("==")


def test_nothing_is_imported_that_requirements_do_not_name() -> None:
    """A package that only happens to come with another one disappears when that one changes its mind."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].values()
    lines = [*pinned("requirements"), *(line for extra in extras for line in extra)]
    named = {re.split(r"[\[=>]", line)[0].lower().replace("-", "_") for line in lines}
    known_as = {"python_multipart": "multipart", "pillow": "pil"}
    available = {known_as.get(name, name) for name in named} | {"markupsafe", "anyio"}  # of jinja2, of starlette
    own = {*PACKAGES, *(file.stem for file in ROOT.glob("*.py"))}
    used = {
        name.split(".")[0].lower()
        for module, names in imported_at_run_time().items()
        if module.split(".")[0] in own
        for name in names
    }
    assert used - available - own - set(sys.stdlib_module_names) == set()


def pinned(name: str) -> list[str]:
    lines = (ROOT / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-r "))]
