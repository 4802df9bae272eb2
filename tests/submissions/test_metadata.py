"""Metadata that a submitter may state about a judge."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from common.refused import FieldProblem
from storage.metadata import FIELDS
from storage.metadata_fields import bounded_number
from submissions.metadata import MetadataRejected, parse_metadata


def problems(**said: object) -> tuple[FieldProblem, ...]:
    with pytest.raises(MetadataRejected) as caught:
        parse_metadata({"model": "Judge", **said})
    return caught.value.problems


def test_only_the_model_is_required() -> None:
    read = parse_metadata({"model": "Judge", "version": "", "link": None, "notes": "  "})
    assert read == dict.fromkeys(FIELDS) | {"model": "Judge", "version": ""}
    with pytest.raises(MetadataRejected) as caught:
        parse_metadata({"model": "   "})
    assert [(one.field, one.code) for one in caught.value.problems] == [("model", "required")]


def test_text_is_normalised_and_stripped() -> None:
    assert parse_metadata({"model": "  ｊｕｄｇｅ　７B "})["model"] == "judge 7B"
    assert parse_metadata({"model": "北京"})["model"] == "北京"


def test_numbers_and_answers_may_come_as_text() -> None:
    read = parse_metadata({"model": "J", "parameters_b": "7.6", "open_weights": "yes", "temperature": 0})
    assert (read["parameters_b"], read["open_weights"], read["temperature"]) == (7.6, True, 0.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", "a\u200bb"),  # zero width space
        ("model", "a\u202eb"),  # right-to-left override
        ("model", "a\nb"),
        ("model", "a\x00"),
        ("model", "\ud800"),
        ("organisation", "\ue000"),  # private use
        ("version", "a\u2028b"),
        ("notes", "a\u202eb"),
        ("model", "a\ufe0f"),  # how an emoji is drawn
        ("model", "a\u034fb"),  # grapheme joiner
        ("model", "\u3164"),  # Hangul filler
        ("model", "a\U000e0100"),  # variation selector
        ("model", "a\u2065"),  # no character yet
        ("model", "\u2800"),  # Braille without dots
    ],
)
def test_invisible_and_control_characters_are_refused(field: str, value: str) -> None:
    (one,) = problems(**{field: value})
    assert (one.field, one.code) == (field, "control-character")
    assert "U+" in one.message


@pytest.mark.parametrize("name", ["Z" + "\u0335" * 5, "\u0301", " \u20dd", "J" + "\u0488" * 105])
def test_marks_that_pile_up_or_stand_on_nothing_are_refused(name: str) -> None:
    assert [one.code for one in problems(model=name)] == ["too-many-marks"]


@pytest.mark.parametrize("name", ["e\u0301", "ลื่น", "किं", "ཧྐྵྨླ", "שָׁ֑"])
def test_marks_of_written_languages_are_taken(name: str) -> None:
    assert parse_metadata({"model": name})["model"] == unicodedata.normalize("NFKC", name)


def test_the_limits_of_a_number_are_those_that_are_held() -> None:
    (one,) = problems(parameters_b=1e-7)
    assert "from 0.000001 to 1,000,000" in one.message
    assert parse_metadata({"model": "J", "parameters_b": "0.000001"})["parameters_b"] == 1e-6


def test_longer_texts_may_have_lines() -> None:
    assert parse_metadata({"model": "J", "notes": "one\r\n\ttwo"})["notes"] == "one\n\ttwo"


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("model", "x" * 121, "too-long"),
        ("prompt", "x" * 20_001, "too-long"),
        ("judge_type", "oracle", "not-a-choice"),
        ("parameters_b", "many", "not-in-range"),
        ("parameters_b", -1, "not-in-range"),
        ("parameters_b", "nan", "not-in-range"),
        ("parameters_b", "9" * 400, "not-in-range"),
        ("parameters_b", True, "not-in-range"),
        ("temperature", "-0.1", "not-in-range"),
        ("open_weights", "perhaps", "not-yes-or-no"),
        ("hub_id", "just-a-name", "not-a-hub-id"),
        ("hub_id", "a/b/c", "not-a-hub-id"),
        ("model", 7, "not-text"),
        ("surprise", "x", "unknown-field"),
    ],
)
def test_a_bad_value_is_named_with_its_field(field: str, value: object, code: str) -> None:
    (one,) = problems(**{field: value})
    assert (one.field, one.code) == (field, code)


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "java\tscript:alert(1)",
        "//evil.org",
        "http://",
        "https:///path",
        "example.org",
        "https://user:password@example.org/",
        "https://exa mple.org",
        'https://example.org/"onmouseover=',
        "https://[::1",
        "https://example.org:port/",
        "http:\\\\evil.org",
    ],
)
def test_a_link_must_be_a_web_address_with_a_host(link: str) -> None:
    (one,) = problems(link=link)
    assert one.field == "link"
    assert one.code in ("not-a-link", "control-character")


def test_web_addresses_pass() -> None:
    for link in ("https://example.org", "http://example.org:8080/a?b=c#d", "https://arxiv.org/abs/2411.17451"):
        assert parse_metadata({"model": "J", "paper": link})["paper"] == link


def test_every_problem_is_reported_at_once() -> None:
    found = problems(judge_type="x", link="y", parameters_b="z")
    assert {one.field for one in found} == {"judge_type", "link", "parameters_b"}


@pytest.mark.parametrize(
    ("typed", "meant"), [(7, 7.0), (0.5, 0.5), ("7", 7.0), (" 6.4e1 ", 64.0), (0, 0.0), ("100", 100.0)]
)
def test_a_number_is_taken_as_one_or_as_text(typed: Any, meant: float) -> None:
    assert bounded_number(typed, 0, high=100) == meant


@pytest.mark.parametrize(
    "typed", ["", "x", "55,0", True, False, None, [], {}, b"7", "nan", "inf", "-1", 100.1, 10**400, "1e999", "9" * 5000]
)
def test_nothing_else_is_a_number(typed: Any) -> None:
    with pytest.raises(ValueError):
        bounded_number(typed, 0, high=100)
