"""The pages in Chinese: no sentence is missing in the catalogue, and no English is left on a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import unescape

import httpx
from babel.messages.catalog import Message as CatalogMessage
from starlette.testclient import TestClient

from scripts.messages import catalogues, missing, of_python, read, template, updated
from tests.factories.three_benchmarks import application, boards
from vlrb.baselines import BASELINES
from web.middleware.languages import LanguageMiddleware

CATALOGUES = catalogues()
_NAMED = re.compile(r"%\((\w+)\)s|(?<!\{)\{(\w*)[^{}]*\}(?!\})")
PAGES = (
    *("/", "/?q=nothing-fits", "/about", "/compare", "/explore", "/check-numbers", "/check-numbers?general=63.8"),
    "/check-numbers?overall=abc",
    *(f"/analyse?chart={name}" for name in ("categories", "tags", "critics", "position", "length", "history")),
    *(
        "/policy",
        "/decisions",
        "/red-team",
        "/reported",
        "/status",
        "/docs",
        "/judges",
        "/account",
        "/disputes",
        "/annotate",
    ),
    *("/no-such-page", "/?as_of=1999-01-01"),
)
LEAST = 4  # words in a row that make a sentence
# Names that stay English, wherever they stand.
TERMS = (
    "VL-RewardBench", "MM-RLHF-RewardBench", "Multimodal RewardBench", "Hugging Face Hub", "Hugging Face", "Hub",
    "Romano", "Wolf", "Wilson", "MOVER", "Cohen’s kappa", "Best of 5 variants", "Luck",
    "JSON lines", "JSON", "CSV", "Parquet", "LaTeX", "Markdown", "BibTeX", "API", "OpenAPI", "VLMEvalKit", "lmms-eval",
    "RewardBench", "Skywork", "Inspect", "ARM-Thinker", "LWE", "MM-JudgeBench",
    "categories do not add up", "Answer 3 is better", "I cannot decide", "GitHub",
    "macro, overall, general, hallucination, reasoning",
)  # fmt: skip
_UNSEEN = re.compile(
    r"<(script|style|pre|code|bdi|noscript|kbd|samp|textarea)\b.*?</\1>|<!--.*?-->|<title>.*?</title>"
    r"|<a [^>]*dir=\"auto\".*?</a>",
    re.S,
)
_ENGLISH = re.compile(r"<(\w+)\b[^>]*\s(?:lang=\"en\"|translate=\"no\")[^>]*>.*?</\1>", re.S)
_ATTRIBUTES = re.compile(r"\s(?:title|aria-label|placeholder|alt)=\"([^\"]+)\"")
_BLOCKS = re.compile(r"</?(?!(?:a|b|i|em|strong|small|span|time|u|sup|sub|abbr)\b)[a-zA-Z][^>]*>")
_BESIDE_HAN = re.compile(r".{0,12}(?:[\u4e00-\u9fff] ?[,;!?]|[\u4e00-\u9fff]:(?!/)|[,;:!?] ?[\u4e00-\u9fff]).{0,12}")
_RUN = re.compile(r"[A-Za-z][A-Za-z’'-]*(?:[ ,;:()“”\"]+[A-Za-z][A-Za-z’'-]*)+")
_HAN = r"[\u4e00-\u9fff]"
# Words of a program keep their own spelling: tags, code, options, values.
_NOT_PROSE = re.compile(r"<code>.*?</code>|`[^`]*`|<[^>]*>|\([a-z]+(?:, [a-z]+)+\)|%\(\w+\)s|\{[^{}]*\}")
_ASCII_MARK = re.compile(rf"{_HAN} ?[(,:;](?!//)|[),:;] ?{_HAN}")
_NO_SPACE = re.compile(rf"{_HAN}[A-Za-z0-9]|[A-Za-z0-9%]{_HAN}")
LED_TO = (("/", "entries"), ("/explore", "explore"), ("/decisions", "decisions"), ("/account", "account/submissions"))


def test_every_catalogue_has_exactly_the_sentences_of_code_and_templates() -> None:
    sentences = template()
    for path in CATALOGUES:
        assert updated(read(path), sentences) == path.read_bytes(), "run `make messages`"


def test_a_sentence_is_found_within_another_call_and_within_an_f_string() -> None:
    source = b"""_("the {name}", name=_(name), other=_("inner"))\nf"{_('A file')}"\nngettext("one", "many", n)"""
    assert list(of_python(source)) == ["the {name}", "inner", "A file", ("one", "many")]


def test_no_sentence_is_without_a_translation_or_unconfirmed() -> None:
    assert {path.parts[-3]: missing(read(path)) for path in CATALOGUES} == {path.parts[-3]: [] for path in CATALOGUES}


def test_a_translation_names_the_values_of_its_sentence() -> None:
    for path in CATALOGUES:
        for message in read(path):
            assert [name for name in _forms(message) if not name <= _names_of(message)] == [], message.id


def _forms(message: CatalogMessage) -> list[set[str]]:
    forms = [message.string] if isinstance(message.string, str) else list(message.string or ())
    return [_names(form) for form in forms] if message.id else []


def _names_of(message: CatalogMessage) -> set[str]:
    return set().union(*map(_names, [message.id] if isinstance(message.id, str) else message.id))


def _names(text: str) -> set[str]:
    return {percent or brace for percent, brace in _NAMED.findall(text)}


def unlike_chinese_prose(text: str) -> list[str]:
    """Return ASCII marks beside Chinese characters, and Latin letters or digits without a space between."""
    prose = _NOT_PROSE.sub("\0", text).replace("%%", "%")
    return [found.group() for rule in (_ASCII_MARK, _NO_SPACE) for found in rule.finditer(prose)]


def test_chinese_sentences_have_chinese_marks_and_a_space_before_latin_words() -> None:
    (path,) = (one for one in CATALOGUES if one.parts[-3] == "zh_CN")
    texts = [text for message in read(path) if message.id for text in _texts(message)]
    assert [(text, marks) for text in texts if (marks := unlike_chinese_prose(text))] == []


def _texts(message: CatalogMessage) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def english_left(page: str, names: Iterable[str] = ()) -> list[str]:
    """Return runs of at least LEAST English words in the prose and attributes of a page; `names` may stay."""
    seen = _ENGLISH.sub(" ", _UNSEEN.sub(" · ", page))
    texts = [*_ATTRIBUTES.findall(seen), *(re.sub(r"<[^>]*>", "", block) for block in _BLOCKS.split(seen))]
    kept = sorted({*names, *TERMS}, key=len, reverse=True)
    return [run for text in texts for run in _runs(" ".join(unescape(text).split()), kept)]


def untranslated(page: str, catalogue: Mapping[str, str], names: Iterable[str] = ()) -> list[str]:
    """Return what stands alone on a page in English, however short, although the catalogue has another text for it."""
    seen = _ENGLISH.sub(" ", _UNSEEN.sub(" · ", page))
    texts = [*_ATTRIBUTES.findall(seen), *re.sub(r"<[^>]*>", "\n", seen).split("\n")]
    alone = {" ".join(unescape(text).split()) for text in texts} - {*names}
    return sorted(text for text in alone if re.search("[A-Za-z]{2}", text) and catalogue.get(text, text) != text)


def ascii_beside_han(page: str) -> list[str]:
    """Return ASCII marks beside Chinese characters in the prose and attributes of a page, with their neighbours."""
    seen = _ENGLISH.sub(" ", _UNSEEN.sub(" · ", page))
    texts = [*_ATTRIBUTES.findall(seen), *(re.sub(r"<[^>]*>", "", block) for block in _BLOCKS.split(seen))]
    return [found for text in texts for found in _BESIDE_HAN.findall(" ".join(unescape(text).split()))]


def _runs(text: str, names: Iterable[str]) -> list[str]:
    for name in names:
        if name:
            text = text.replace(name, " · ")
    return [run for run in _RUN.findall(text) if len(re.findall(r"[A-Za-z][A-Za-z’'-]+", run)) >= LEAST]


def _rows(client: httpx.Client, tier: str) -> list[str]:
    entries = client.get("/api/v1/leaderboard").json()["entries"]
    return [row["id"] for row in entries if row["tier"] == tier]


def _names_on_board(client: httpx.Client) -> set[str]:
    rows = client.get("/api/v1/leaderboard").json()["entries"]
    fields = ("model", "version", "organisation", "source", "base_model", "note", "notes", "about", "hardware")
    return {str(row[name]) for row in rows for name in fields if row.get(name)}


def pages_with_english(client: httpx.Client) -> dict[str, list[str]]:
    """Return what is left on pages of the demo that are read in Chinese: test_every_page.py has a service."""
    names = _names_on_board(client) | {str(baseline.name) for baseline in BASELINES} | {"paper"}  # a rule
    found = [led for page, kind in LED_TO if (led := _first(client, page, kind=kind))]
    scored, reported = _rows(client, "scored"), _rows(client, "reported")
    found += [f"/entries/{scored[0]}", f"/entries/{reported[0]}", f"/compare?entries={','.join(scored[:3])}"]
    (path,) = (one for one in CATALOGUES if one.parts[-3] == "zh_CN")
    known = {message.id: message.string for message in read(path) if isinstance(message.id, str)}
    left = {}
    for address in (*PAGES, *found):
        page = client.get(address).text
        assert page.startswith('<!doctype html>\n<html lang="zh-CN">'), address
        assert len(re.findall("[\u4e00-\u9fff]", page)) > 60, address
        if runs := [*english_left(page, names), *untranslated(page, known, names), *ascii_beside_han(page)]:
            left[address] = runs
    return left


def test_pages_of_every_benchmark_have_chinese_marks_beside_chinese_words() -> None:
    chinese = boards(4)
    visitor = TestClient(LanguageMiddleware(application(chinese)), headers={"Accept-Language": "zh-CN"})
    addresses = ["/judges", "/agreement"]
    for board in chinese:
        prefix = board.context.prefix
        ids = [row.id for row in board.refresh().board().rows if row.tier != "baseline"]
        chosen = ",".join([*ids[:3], *(name for name in ids if name.startswith("r-"))][:9])
        about = ["/about"] if board.spec.has_items else []
        pages = (*about, "/", "/check-numbers", f"/analyse?entries={chosen}", f"/compare?entries={chosen}")
        addresses += [prefix + page for page in (*pages, f"/entries/{ids[0]}", f"/entries/{ids[-1]}")]
    found = {address: visitor.get(address) for address in addresses}
    assert {address: page.status_code for address, page in found.items() if page.status_code != 200} == {}
    marks = {address: ascii_beside_han(page.text) for address, page in found.items()}
    assert {address: seen for address, seen in marks.items() if seen} == {}
    assert [address for address, page in found.items() if re.search("[。；] ", page.text)] == []


def _first(client: httpx.Client, page: str, *, kind: str) -> str:
    match = re.search(rf'href="(/{kind}/[^"#?]+)"', client.get(page).text)
    return match[1] if match else ""
