"""The guide works word for word, and names every command and option."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

import vlrb.editions.command_line as curate
from tests.factories.suite.programs import run_main
from tests.test_docs import maintenance_commands
from vlrb.cli import main
from vlrb.editions.pools.near_duplicates import KINDS

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "curating.md").read_text(encoding="utf-8")


# In the place of `.venv/bin/python`: the test is told the arguments, runs them, and says what was printed.
ASKING = """
python() {
  printf '%s\\0' "$@" '' >&"$ASKED"
  read -r code <&"$ANSWERED"
  cat printed
  return "$code"
}
"""


def example(python: str) -> str:
    """Return the commands of the guide's first example with another word for the interpreter."""
    section = GUIDE.partition("## Try it")[2].partition("\n## ")[0]
    commands = "\n".join(re.findall(r"```bash\n(.*?)```", section, re.DOTALL))
    return commands.replace(".venv/bin/python", python).replace(".venv/bin/vlrb", f"{python} -m vlrb")


def expect_an_edition(folder: Path) -> None:
    assert (folder / "first" / "editions" / "first-edition" / "spec.toml").is_file()
    assert (folder / "first" / "private" / "first-edition" / "labels.jsonl").is_file()
    assert "below chance" in (folder / "first" / "pool" / "filtered" / "filter.html").read_text()


@pytest.mark.slow
def test_the_first_example_of_the_guide_works_word_for_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # as `python -m` does
    (asked, their_asked), (their_answered, answered) = os.pipe(), os.pipe()
    environ = {**os.environ, "ASKED": str(their_asked), "ANSWERED": str(their_answered)}
    bash = ["bash", "-e", "-c", ASKING + example("python")]
    with subprocess.Popen(bash, cwd=tmp_path, env=environ, pass_fds=[their_asked, their_answered]) as shell:
        os.close(their_asked)
        os.close(their_answered)
        with os.fdopen(asked) as commands, os.fdopen(answered, "w") as answers:
            while arguments := _next_command(commands):
                done = run_main(_python, arguments, folder=tmp_path)
                assert done.returncode == 0, (arguments, done.stderr)
                (tmp_path / "printed").write_text(done.stdout)
                print(done.returncode, file=answers, flush=True)
    assert shell.returncode == 0
    expect_an_edition(tmp_path)


def _next_command(commands: TextIO) -> tuple[str, ...]:
    """Return its arguments, each of which ends with a zero, and all of them with one more; none at the end."""
    said = ""
    while not said.endswith("\0\0"):
        more = commands.read(1)
        if not more:
            return ()
        said += more
    return tuple(said[:-2].split("\0"))


def _python(arguments: list[str]) -> int:
    """Do as the interpreter does with a script, or with a program of this project after `-m`."""
    if arguments[0] == "-m":
        assert arguments[1] == "vlrb"
        return main(arguments[2:])
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


@pytest.mark.long
def test_the_first_example_of_the_guide_works_in_processes_of_its_own(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ["bash", "-e", "-c", example(sys.executable)]
    ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    expect_an_edition(tmp_path)


def test_every_command_and_every_option_is_named() -> None:
    missing = []
    for words, parser in maintenance_commands(curate.command_line()):
        options = {name for action in parser._actions for name in action.option_strings if name.startswith("--")}
        missing += [f"{words} {name}" for name in options - {"--help"} if name not in GUIDE]
        missing += [words] if f"vlrb edition {words}" not in GUIDE else []
    assert not missing


def test_every_rule_and_kind_of_duplicate_is_described() -> None:
    assert not [name for name in (*KINDS, "all-wrong", "at-least", "judges", "unstable") if f"`{name}" not in GUIDE]
