"""Hostile files are refused with a code and a line, quickly, and never with another exception."""

import gzip
import io
import json
import re
import tarfile
import time
import zipfile
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import prediction_files as files
from tests.factories.labels import pairs, table
from tests.factories.specs import VL
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.spec_file import load_spec
from vlrb.common.translations import translations
from vlrb.predictions.parse import UploadRejected, build_report, parse_predictions
from vlrb.readers import xlsx
from vlrb.readers.base import stated_choice
from vlrb.readers.official import read_json_verdict
from vlrb.readers.problems import ProblemCollector
from vlrb.verdicts import choice_of

PAIRS = pairs(2)
TABLE = table(2)
LINES = [json.dumps({"id": row["id"], "votes": [0]}).encode() for row in PAIRS]
WHOLE = b"\n".join(LINES) + b"\n"
NAMES = "git lfs pull|pip install|Python pickle|Answer 1 is better"
QUOTED = re.compile(rf"`[^`]*`|“[^”]*”|\"[^\"]*\"|'[^']*'|\{{.*\}}|{NAMES}")


def english_words(message: str) -> list[str]:
    """Return the runs of English words that a message has in Chinese, beside what it quotes."""
    return re.findall(r"\b[A-Za-z][a-z]+(?: [a-z]{2,})+", QUOTED.sub("", translations("zh-CN").text(message)))


def problems(data: bytes, items: ItemTable = TABLE) -> list[tuple[str, int | None]]:
    """(code, line) of every listed problem."""
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(data, items)
    assert [words for problem in caught.value.problems for words in english_words(problem.message)] == []
    return [(problem.code, problem.line) for problem in caught.value.problems]


def with_line(line: bytes, number: int = 3) -> bytes:
    """Return the good file with one line exchanged."""
    return b"\n".join([*LINES[: number - 1], line, *LINES[number:]]) + b"\n"


def third(extra: bytes) -> bytes:
    """Return the good file with something added to its third object."""
    return with_line(LINES[2][:-1] + b", " + extra + b"}")


def judged(text: str) -> bytes:
    """Return a native line with one judgement."""
    return json.dumps({"id": "a", "judgements": [{"text": text, "swapped": True}]}, ensure_ascii=False).encode()


RESULT = b'{"results": [\n{"id": "a", "prediction": 1},\n{"id": "a", "prediction": %s}\n]}'


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (third(b'"x": "\xc0\xaf"'), "bad-utf8"),
        (third(b'"x": "\xed\xa0\x80"'), "bad-utf8"),
        (third(b'"x": NaN'), "not-a-number"),
        (third(b'"x": 1e999'), "number-too-large"),
        (third(b'"votes": [1]'), "duplicate-key"),
        (third(b'"x": {"y": 1, "z": [{"y": 1, "y": 2}]}'), "duplicate-key"),
        (third(b'"x": ' + b"[" * 1_000 + b"]" * 1_000), "too-deep"),
        (third(b'"x": ' + b"9" * 5_000), "number-too-large"),
        (third(b'"x": "\\ud800"'), "lone-surrogate"),
        (third(b'"x": "\\u0000"'), "nul-character"),
        (third(b'"\\u0000": 1'), "nul-character"),
        (with_line(LINES[2] + b" x"), "bad-json"),
        (with_line(LINES[2][:-4]), "bad-json"),
        (with_line(b"[0, 1]"), "not-an-object"),
        (with_line(b""), "blank-line"),
        (third(b'"x": "' + b"y" * 262_144 + b'"'), "line-too-long"),
        (with_line(b'{"id": 5, "votes": [0]}'), "bad-field"),
        (with_line(b'{"votes": [0]}'), "missing-field"),
        (with_line(b'{"id": "a", "note": "no votes"}'), "missing-field"),
        (with_line(b'{"id": "a", "votes": [0], "scores": [[0, 1]]}'), "bad-kind"),
        (with_line(b'{"id": "a", "votes": []}'), "votes-count"),
        (with_line(b'{"id": "a", "votes": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}'), "votes-count"),
        (with_line(b'{"id": "a", "votes": "0"}'), "bad-field"),
        (with_line(b'{"id": "a", "votes": ["A"]}'), "bad-vote"),
        (with_line(b'{"id": "a", "votes": [0.5]}'), "bad-vote"),
        (with_line(b'{"id": "a", "votes": [2]}'), "bad-vote"),
        (with_line(b'{"id": "a", "scores": [["1_0", 2]]}'), "bad-field"),
        (with_line(b'{"id": "a", "scores": [[1]]}'), "bad-field"),
        (with_line(b'{"id": "a", "judgements": ["text"]}'), "bad-field"),
        (with_line(b'{"id": "a", "judgements": [{"text": 1, "swapped": true}]}'), "bad-field"),
        (with_line(b'{"id": "a", "judgements": [{"text": "t", "swapped": 1}]}'), "bad-order-flag"),
        (with_line(b'{"id": "a", "judgements": [{"text": "t"}]}'), "bad-order-flag"),
        (with_line(judged("x" * 65_537)), "text-too-long"),
        (with_line(judged("é" * 32_769)), "text-too-long"),
    ],
    ids=lambda value: str(value[:30]),
)  # fmt: skip
def test_a_hostile_line_is_refused_with_its_number(data: bytes, code: str) -> None:
    assert (code, 3) in problems(data)


@pytest.mark.parametrize("random_number", [2, -1, True, "1", 1.0, None, [0], 10**30])
def test_an_order_flag_that_is_not_0_or_1_is_refused(random_number: Any) -> None:
    records = files.official_records(PAIRS, [[0]] * len(PAIRS))
    records[2]["meta"]["random_number"] = random_number
    (found,) = problems(files.jsonl(records))
    assert found[0] in ("bad-order-flag", "bad-field")
    assert found[1] == 3


@pytest.mark.parametrize("path", ["id", "query", "response", "meta", "meta.filter_choice", "meta.random_number"])
@pytest.mark.parametrize("value", [None, {"a": 1}])
def test_a_wrong_field_of_an_official_line_is_named(path: str, value: Any) -> None:
    records = files.official_records(PAIRS, [[0, 0]] * len(PAIRS))
    place = records[4]["meta"] if "." in path else records[4]
    place[path.split(".")[-1]] = value
    with pytest.raises(UploadRejected) as caught:
        parse_predictions(files.jsonl(records), TABLE)
    assert any((problem.field or "").startswith(path) for problem in caught.value.problems)
    assert {problem.line for problem in caught.value.problems} == {5}


def tarball() -> bytes:
    """Return a tar archive with the good file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("a.jsonl")
        member.size = len(WHOLE)
        archive.addfile(member, io.BytesIO(WHOLE))
    return out.getvalue()


def bomb() -> bytes:
    """Return what is small only where it is packed."""
    return b"<x>" + b" " * 200_000_000


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


RECORDS = files.vlmevalkit_records(PAIRS, [[0]] * len(PAIRS))
DTD = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><worksheet>&b;</worksheet>'
OUTSIDE = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><worksheet>&a;</worksheet>'
SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: b" \n\r\n\t\n", "empty-file"),
        (lambda: b"\xef\xbb\xbf", "empty-file"),
        (lambda: gzip.compress(bytes(10_000_000)), "unsupported-container"),
        (lambda: gzip.compress(tarball()), "unsupported-container"),
        (lambda: gzip.compress(files.workbook(RECORDS)), "unsupported-container"),
        (lambda: gzip.compress(b""), "empty-file"),
        (lambda: gzip.compress(WHOLE)[:-9], "bad-gzip"),
        (lambda: gzip.compress(WHOLE)[:-8] + bytes(8), "bad-gzip"),
        (lambda: gzip.compress(WHOLE) + b"more", "bad-gzip"),
        (lambda: gzip.compress(b"") * 20_000, "empty-file"),
        (tarball, "unsupported-container"),
        (lambda: zipped({"a.zip": zipped({"a.jsonl": WHOLE})}), "unsupported-container"),
        (lambda: zipped({"a.jsonl": bomb()}), "unsupported-container"),
        (lambda: zipped({"a.jsonl": WHOLE})[:-9], "bad-xlsx"),
        (lambda: b"PAR1" + WHOLE + b"PAR1", "unsupported-container"),
        (lambda: WHOLE.decode().encode("utf-16-le"), "nul-character"),
        (lambda: WHOLE.decode().encode("utf-16")[:-1], "not-utf8"),
        (lambda: LINES[0] + b"\n" + b'{"id": "\x00"}\n', "nul-character"),
        (lambda: WHOLE.replace(b"\n", b"\r"), "bad-json"),
        (lambda: WHOLE * 17, "too-many-records"),
        (lambda: (LINES[0] + b"\n") * 1_000_000, "too-many-records"),
        (lambda: b"[" * 100_000, "too-deep"),
        (lambda: b"[]", "unknown-format"),
        (lambda: b'{"results": []}', "unknown-format"),
        (lambda: RESULT % b"NaN", "not-a-number"),
        (lambda: RESULT % b'1, "id": "b"', "duplicate-key"),
        (lambda: files.workbook(RECORDS)[:-30], "bad-xlsx"),
        (lambda: files.workbook(RECORDS).replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\xff"), "bad-xlsx"),
        (lambda: files.workbook([{"a": "1"}]).replace(b"xl/theme/", b"\x00l/theme/"), "xlsx-not-vlmevalkit"),
        (lambda: files.workbook(RECORDS, extra={"xl/media/a.bin": bytes(150_000_000)}), "zip-bomb"),
        (lambda: zipped({"[Content_Types].xml": b"", SHEET: bomb()}), "zip-bomb"),
        (lambda: zipped({"[Content_Types].xml": b"", SHEET: DTD}), "bad-xlsx"),
        (lambda: zipped({"[Content_Types].xml": b"", SHEET: OUTSIDE}), "bad-xlsx"),
        (lambda: zipped({"[Content_Types].xml": b"", SHEET: b"<worksheet"}), "bad-xlsx"),
        (lambda: zipped({f"x{i}": b"" for i in range(2_000)}), "unsupported-container"),
        (lambda: b"index\tprediction\tquestion\n0\t'\n1\n", "bad-table"),
        (lambda: b"index\tprediction\tquestion\n0\t\xff\t1\n", "bad-utf8"),
        (lambda: b'index\tprediction\tquestion\n0\t"a"b\t1\n', "bad-table"),
    ],
)  # fmt: skip
def test_a_hostile_file_is_refused_by_content(make: Callable[[], bytes], code: str) -> None:
    data = make()
    start = time.process_time()
    assert problems(data)[0][0] == code
    assert time.process_time() - start < 3


def test_a_sheet_of_more_elements_than_tables_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = b"<worksheet><row>%b</row></worksheet>" % b"".join(b'<c r="A%d"/>' % number for number in range(1_000))
    data = zipped({"[Content_Types].xml": b"", SHEET: sheet})
    assert problems(data)[0][0] != "zip-bomb"
    monkeypatch.setattr(xlsx, "_ELEMENTS_LIMIT", 1_000)
    assert problems(data)[0][0] == "zip-bomb"


@pytest.mark.parametrize(
    ("place", "claim"),
    [
        (b"<sheetData>", b'<dimension ref="A1"/><sheetData>'),
        (b"<sheetData>", b'<dimension ref="A1:XFD1048576"/><sheetData>'),
        (b"</sheetData>", b'<row r="999999999999"/></sheetData>'),
    ],
)
def test_a_sheet_is_read_whatever_it_claims_about_its_size(place: bytes, claim: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(files.workbook([{"id": "a", "vote": 1}]))) as held:
        members = {name: held.read(name) for name in held.namelist()}
    members[SHEET] = members[SHEET].replace(place, claim)
    assert list(xlsx.sheets(zipped(members), ProblemCollector())) == [[(2, {"id": "a", "vote": "1"})]]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + WHOLE,
        WHOLE[:-1],
        WHOLE.replace(b"\n", b"\r\n"),
        WHOLE + b"\n\n",
        gzip.compress(WHOLE),
        gzip.compress(WHOLE) + bytes(512),
        b"".join(gzip.compress(line + b"\n") for line in LINES),
        with_line(LINES[2].replace(b'"id":', b'"id" :')),
        third('"x": "a\u2028b\u2029c\u0085d\x7f"'.encode()),
        third(b'"x": "say \\"votes\\": [1] or \\\\\\"a\\": b, c\\\\"'),
        third(b'"x": "\\\\u0000 is no NUL"'),
        third(b'"x": ' + b"[" * 20 + b"]" * 20),
        third(b'"x": 18446744073709551616, "y": 1e300, "z": "\\ud83d\\ude00"'),
    ],
)  # fmt: skip
def test_harmless_oddities_are_read(data: bytes) -> None:
    assert (parse_predictions(data, TABLE).votes.matrix == 0).all()


@pytest.mark.parametrize(
    "text",
    [
        "Therefore" + " " * 400,
        ("Therefore" + " " * 65_536)[:65_536],
        ("Therefore" + " " * 50) * 1_100,
        "Therefore" * 7_000,
        "Therefore" + "Answer 1 is " * 5_000,
        "Therefore Answer" + " " * 65_000 + "x is better",
        "Therefore Answer 1" + " " * 30_000 + "is" + " " * 30_000,
        "Therefore Answer " + "1" * 65_000,
        "Therefore \u0130" + "Answer 1 is the" + " " * 65_000,
        "Therefore " + "answer" * 10_000,
        "Overall Judgment" + "-" * 65_000,
        "<answer>" + " " * 65_000,
        "<answer>" * 8_000,
        "answer is " * 6_500,
        "\\boxed{" * 9_000,
        "\\boxed{" + " " * 65_000,
        '"better"' + " " * 65_000,
        '{"better"' * 7_000,
    ],
    ids=lambda text: text[:20],
)
def test_each_adversarial_text_takes_less_than_50_ms(text: str) -> None:
    for parse in (
        choice_of,
        stated_choice,
        *(partial(read_json_verdict, spec=spec) for spec in (VL, load_spec("multimodal-rewardbench"))),
    ):
        assert min(_seconds(parse, text) for _ in range(3)) < 0.05


def _seconds(parse: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    parse(text)
    return time.process_time() - start


@pytest.mark.slow
def test_the_worst_file_that_is_small_enough_is_read_within_the_limit() -> None:
    items = ItemTable.load(VL)
    text = ("Therefore" + " " * 50) * 55
    judged = [{"text": text, "swapped": False}] * 16
    data = files.jsonl([{"id": item.ids["v0"], "judgements": judged} for item in items.items])
    assert len(data) > 60_000_000
    start = time.process_time()
    assert (parse_predictions(data, items).votes.matrix == -1).all()
    assert time.process_time() - start < 60


@given(st.binary(max_size=200))
def test_no_bytes_lead_to_any_other_exception(data: bytes) -> None:
    with pytest.raises(UploadRejected):
        parse_predictions(data, TABLE)


MAKERS = (
    files.native_judgements, files.official, files.lmms_eval, files.vlmevalkit_tsv, files.vlmevalkit_xlsx, files.jev,
)  # fmt: skip


@cache
def _good_files() -> list[bytes]:
    """Return one of each kind; a workbook holds the time when it was written, so each is made once."""
    return [make(PAIRS, [[0]] * len(PAIRS)) for make in MAKERS]


@given(st.data())
def test_no_damage_to_a_good_file_leads_to_any_other_exception(draw: st.DataObject) -> None:
    data = bytearray(_good_files()[draw.draw(st.integers(0, len(MAKERS) - 1))])
    for _ in range(draw.draw(st.integers(1, 6))):
        place = draw.draw(st.integers(0, len(data) - 1))
        data[place : place + draw.draw(st.integers(0, 3))] = draw.draw(st.binary(max_size=3))
    try:
        parse_predictions(bytes(data), TABLE)
    except UploadRejected as rejection:
        json.dumps(build_report(rejection, "invented"), allow_nan=False)


def test_a_damaged_json_list_is_one_problem() -> None:
    records = b",\n".join(b'{"id": "a", "votes": [0]}' for _ in range(30))
    for data in (b"[" + records + b",]", b'{"results": [\n' + records + b",]}"):
        with pytest.raises(UploadRejected) as caught:
            parse_predictions(data, TABLE)
        assert caught.value.problem_count == 1
