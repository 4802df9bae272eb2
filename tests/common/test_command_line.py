"""Commands in the language of the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.command_line import CommandParser, columns, language_of, wrapped
from submissions.__main__ import main
from tests.factories import prediction_files as files
from tests.factories.labels import pairs


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
    assert shown.out.startswith("用法：python -m submissions check [-h] [--json]")
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


def test_help_is_wrapped_by_columns_and_never_begins_a_line_with_punctuation() -> None:
    lines = wrapped("离线核验回执：签名、文件、在审计链中的位置 (receipt-ID.json)，以及 JSON。", 20)
    assert all(columns(line) <= 22 for line in lines)
    assert not [line for line in lines if line[0] in "，。、：）"]


def test_english_leaves_argparse_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert CommandParser(prog="x").format_help().startswith("usage: x [-h]\n\noptions:\n  -h, --help  show this help")


def test_wrong_use_is_one_sentence_and_where_help_is_without_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    parser = CommandParser(prog="x")
    parser.add_argument("--name", required=True)
    with pytest.raises(SystemExit) as left:
        parser.parse_args([])
    assert left.value.code == 2
    said = capsys.readouterr().err.splitlines()
    assert said == ["x: error: the following arguments are required: --name", "Run x --help to see the options."]
