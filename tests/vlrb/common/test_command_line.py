"""Commands in the language of the terminal."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import workers.__main__
import workers.command_line
from tests.factories import prediction_files as files
from tests.factories.labels import pairs
from vlrb.cli import COMMANDS, command_line, main
from vlrb.common.command_line import CommandParser, exit_code, language_of, translated
from vlrb.common.messages import _

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh-CN"),
        ({"LANG": "zh"}, "zh-CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "C", "LC_ALL": "", "LC_MESSAGES": "zh_TW.UTF-8"}, "zh-CN"),
        ({"LANG": "de_DE@euro"}, "en"),
    ],
)
def test_the_first_variable_that_is_set_names_the_language(variables: dict[str, str], language: str) -> None:
    assert language_of(variables) == language


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")


@pytest.mark.usefixtures("chinese")
def test_help_and_errors_are_chinese_and_options_stay(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, code in ((["check", "--help"], 0), (["check"], 2)):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == code
    shown = capsys.readouterr()
    assert shown.out.startswith("用法：vlrb check [-h] [--json]")
    assert "显示这份帮助并退出" in shown.out
    assert shown.err.splitlines()[0].endswith("错误：缺少必需的参数：FILE")


@pytest.mark.usefixtures("chinese")
def test_a_report_is_chinese_and_its_json_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(files.official(pairs(2), files.random_votes(14, 3)))
    main(["check", str(path)])
    assert "格式：" in capsys.readouterr().out
    main(["check", str(path), "--json"])
    assert capsys.readouterr().out.isascii()


@pytest.mark.usefixtures("chinese")
def test_every_command_of_every_program_has_chinese_help() -> None:
    translated_ones = [command_line(name) for name in COMMANDS if name != "edition"]  # curators are few
    programs = [workers.command_line.command_line(), *translated_ones]
    texts = [text for program in programs for text in _texts(program)]
    assert len(texts) > 150
    assert not [text for text in texts if _has_words(text) and not _is_chinese(translated(_(text)))]


def _texts(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield descriptions and help of a program and all its commands."""
    yield from filter(None, [parser.description])
    for action in parser._actions:
        yield from filter(None, [action.help])
        if isinstance(action, argparse._SubParsersAction):
            yield from (choice.help for choice in action._choices_actions if choice.help)
            for command in action.choices.values():
                yield from _texts(command)


def _has_words(text: str) -> bool:
    """Return whether a text is more than names and values, such as a list of fields."""
    return any(" " in part.strip() for part in text.split(","))


def _is_chinese(text: str) -> bool:
    return any(unicodedata.east_asian_width(character) == "W" for character in text)


def test_wrong_use_is_one_sentence_and_where_help_is_without_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    parser = CommandParser(prog="x")
    parser.add_argument("--name", required=True)
    with pytest.raises(SystemExit) as left:
        parser.parse_args([])
    assert left.value.code == 2
    problem, hint = capsys.readouterr().err.splitlines()
    assert problem == "x: error: the following arguments are required: --name"
    assert "x --help" in hint


def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    (tmp_path / "vlrb").write_text(f'#!/bin/bash\ncd {ROOT} && exec {sys.executable} -m vlrb "$@"\n')
    (tmp_path / "vlrb").chmod(0o755)
    typed = 'eval "$(vlrb completion)"; COMP_WORDS=(vlrb {}); COMP_CWORD={}; _vlrb; echo "${{COMPREPLY[@]}}"'
    for words, place, completed in (
        ("withd", 1, "withdraw"),
        ("judge stat", 2, "status"),
        ("judge run --max-c", 3, "--max-cost"),
    ):
        command = ["bash", "-c", typed.format(words, place)]
        environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "LC_ALL": "C"}
        ran = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
        assert ran.stdout.split() == [completed]


def test_a_reader_that_wants_no_more_ends_a_command_without_a_word() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "vlrb", "check", "--help"]
    ended = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_interrupt_ends_a_command_with_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert exit_code(interrupted) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_a_package_that_serving_does_not_need_is_named_where_it_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    def needs(module: str) -> Callable[[], int]:
        return lambda: int(bool(importlib.import_module(module)))

    assert exit_code(needs("a_package_of_judges.parts")) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "a_package_of_judges is not installed" in said and "`make dev`" in said
    with pytest.raises(ModuleNotFoundError):  # a module of the project that is missing is a fault
        exit_code(needs("common.no_such_module"))
