"""Sentences that can be translated, and the catalogues that they are looked up in."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from vlrb.common.messages import Message, _, message_of, ngettext, replaced
from vlrb.common.text import join_sentences
from vlrb.common.translations import Translations, languages, preferred, translations

KNOWN = {"en": "English", "zh-CN": "中文", "pt-BR": "Português"}
CATALOG = r"""msgid ""
msgstr ""
"Language: pl\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);\n"
"Content-Type: text/plain; charset=utf-8\n"

msgid "{n} judge"
msgid_plural "{n} judges"
msgstr[0] "{n} sędzia"
msgstr[1] "{n} sędziowie"
msgstr[2] "{n} sędziów"

msgid "Rank {rank} of {count}"
msgstr "{count}: miejsce {rank}"

msgid "{name} beats {others} here"
msgstr "{name} 胜过 {others} 而居首"

msgid "{n} others"
msgstr "另外 {n} 个模型"

#, fuzzy
msgid "Board"
msgstr "Deska"
"""


@pytest.fixture
def polish(tmp_path: Path) -> Translations:
    path = tmp_path / "pl" / "LC_MESSAGES" / "messages.po"
    path.parent.mkdir(parents=True)
    path.write_text(CATALOG, encoding="utf-8")
    return translations("pl", tmp_path)


def test_a_message_is_its_english_text_for_everything_that_reads_strings() -> None:
    message = _("Rank {rank} of {count}", rank=2, count=_("ten"))
    assert message == "Rank 2 of ten"
    assert json.dumps({"at": message}) == '{"at": "Rank 2 of ten"}'
    assert {message: 1}["Rank 2 of ten"] == 1


def test_a_message_stays_one_through_an_error_and_another_process(polish: Translations) -> None:
    message = _("Rank {rank} of {count}", rank=2, count=9)
    assert polish.text(str(ValueError(message))) == "9: miejsce 2"
    assert polish.text(pickle.loads(pickle.dumps(message))) == "9: miejsce 2"


def test_messages_come_through_json_with_their_values_and_texts_of_others_stay_texts(polish: Translations) -> None:
    count = ngettext("{n} judge", "{n} judges", 3)
    sent = {"told": [_("Rank {rank} of {count}", rank=2, count=count)], "name": "Rank {rank} of {count}"}
    assert json.loads(json.dumps(sent)) == {"told": ["Rank 2 of 3 judges"], "name": "Rank {rank} of {count}"}
    arrived = json.loads(json.dumps(replaced(sent, Message.to_json)), object_hook=message_of)
    assert arrived == sent
    assert replaced(arrived, polish.text) == {"told": ["3 sędziowie: miejsce 2"], "name": "Rank {rank} of {count}"}


@pytest.mark.parametrize(("n", "text"), [(1, "1 sędzia"), (3, "3 sędziowie"), (5, "5 sędziów")])
def test_a_language_has_its_own_plurals(polish: Translations, n: int, text: str) -> None:
    assert polish.text(ngettext("{n} judge", "{n} judges", n)) == text


def test_english_has_its_own_plurals() -> None:
    assert [ngettext("{n} judge", "{n} judges", n) for n in (0, 1, 2)] == ["0 judges", "1 judge", "2 judges"]


def test_what_is_missing_or_unconfirmed_stays_english(polish: Translations) -> None:
    assert polish.known("Board") == "Board"
    assert polish.text(_("Never translated")) == "Never translated"


def test_a_plain_string_is_never_translated_by_itself(polish: Translations) -> None:
    assert polish.text("Rank {rank} of {count}") == "Rank {rank} of {count}"


def test_braces_are_literal_without_values() -> None:
    assert _('{"id": 1}') == '{"id": 1}'
    assert isinstance(_("{}"), Message)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"),
        ("zh-TW", "zh-CN"),
        ("en-US,en;q=0.9,zh-CN;q=0.8", "en"),
        ("de,zh;q=0.5", "zh-CN"),
        ("de-DE,de", "en"),
        ("zh_CN", "zh-CN"),
        ("", "en"),
    ],
)
def test_the_language_that_a_browser_likes_best_is_chosen(accepted: str, language: str) -> None:
    assert preferred(accepted, KNOWN) == language


def test_a_language_is_one_file_and_english_needs_none(tmp_path: Path) -> None:
    path = tmp_path / "pt_BR" / "LC_MESSAGES" / "messages.po"
    path.parent.mkdir(parents=True)
    path.write_text("", encoding="utf-8")
    assert dict(languages(tmp_path)) == {"en": "English", "pt-BR": "Português"}


def test_a_message_stays_one_when_a_text_is_added() -> None:
    chinese = translations("zh-CN")
    line = "  " + _("queued, number {position} in line", position=7) + _(" and ") + "slow"
    assert line == "  queued, number 7 in line and slow"
    assert chinese.text(line).startswith("  排队中，第 7 位") and "and" not in chinese.text(line)


def test_between_chinese_words_there_is_no_blank_and_a_name_keeps_its_own(polish: Translations) -> None:
    others = _("{n} others", n=4)
    assert polish.text(_("{name} beats {others} here", name="甲 乙", others=others)) == "甲 乙 胜过另外 4 个模型而居首"
    assert polish.text(_("{name} beats {others} here", name="A", others="B")) == "A 胜过 B 而居首"
    assert (
        translations("zh-CN").text(join_sentences(_("Sign in first."), _("Sign in first."))) == "请先登录。请先登录。"
    )
