"""Texts that are declared as data and shown to people: titles of the navigation, of benchmarks, of columns."""

from __future__ import annotations

from collections.abc import Iterator

from leaderboard.about import pages as about
from leaderboard.about import red_team
from leaderboard.charts.judge_charts import paper_figures
from leaderboard.ranking.columns import columns_of
from leaderboard.ranking.parameters import FILTERS
from leaderboard.ranking.reported_results import left_out
from leaderboard.share.api_reference import GROUPS
from leaderboard.site.render import ACTION, NAVIGATION
from maintenance.decision_log import OTHER_EVENTS
from storage.metadata import FIELDS
from vlrb.benchmarks.spec import BenchmarkSpec, capital
from vlrb.benchmarks.spec_file import known_benchmarks, load_spec
from vlrb.judges import TYPES
from vlrb.readers import READERS
from web.actions import ACTIONS

_FACTS = ("Judge", "Organisation", "Type", "Base model", "Parameters", "Weights", "Votes per pair", "Notes")
_STATES = (
    "queued", "running", "done", "failed", "waiting", "approved", "rejected", "accepted", "dismissed", "acted-on",
)  # fmt: skip


def declared_texts() -> Iterator[tuple[str, str]]:
    """Yield the file of each text, and the text."""
    for title, _ in (*NAVIGATION, ACTION):
        yield "leaderboard/site/render.py", title
    for title in TYPES.values():
        yield "vlrb/judges.py", title
    for benchmark in known_benchmarks():
        folder = f"vlrb/benchmarks/{benchmark}"
        spec = load_spec(benchmark)
        yield from ((f"{folder}/spec.toml", text) for text in _of_definition(spec) if text)
        for column in columns_of(spec):
            texts = (column.title, column.subtitle, column.description)
            yield from (("leaderboard/ranking/columns.py", text) for text in texts if text not in ("", "n"))
        yield from ((f"{folder}/about.html", str(text)) for text in about.texts(spec).values() if text)
    for choice in FILTERS:
        yield from (
            ("leaderboard/ranking/parameters.py", text)
            for text in (choice.label, *(title for _, title in choice.choices))
        )
    for title in GROUPS:
        yield "leaderboard/share/api_reference.py", title
    for text in _FACTS:
        yield "leaderboard/entry/templates/reported.html", text
    for reader in READERS:
        yield from (("vlrb/readers/__init__.py", text) for text in (reader.name, reader.tool, reader.note) if text)
    for name, metadata in FIELDS.items():
        titles = (
            name.replace("_", " "),
            metadata.title,
            metadata.form_label,
            metadata.help,
            metadata.entry_title or "",
        )
        words = [text for choice in metadata.choices or () for text in choice]
        yield from (("storage/metadata.py", text) for text in (*titles, *words) if text)
    for exploit in red_team.exploits():
        yield from (
            ("leaderboard/about/red_team.json", text) for text in (exploit["title"], exploit["what"], exploit["why"])
        )
    for event in {**OTHER_EVENTS, **ACTIONS.public_events()}.values():
        yield from (("maintenance/decision_log.py", text) for text in (event.title, event.sentence) if text)
    for sentence in ACTIONS.owner_sentences().values():
        yield "web/actions.py", sentence
    yield from (("storage/models/core.py", state) for state in _STATES)
    yield from (("maintenance/types.py", what) for what in ("reason", "note"))


def _of_definition(spec: BenchmarkSpec) -> Iterator[str]:
    for category in spec.categories:
        yield from (category.title, category.about, category.short)
    for protocol in spec.protocols:
        yield from (protocol.rule, protocol.summary, protocol.text)
    for overall in spec.overalls:
        yield from (overall.title, overall.subtitle, overall.about, overall.name)
    yield from (spec.name_of(name) for name in spec.tie_breaks)
    yield from (spec.accuracy_text(name) for name in dict.fromkeys((*spec.tie_breaks, *spec.overall_keys)))
    yield from (combined.title for combined in spec.combined)
    yield from (spec.headline_text, capital(spec.headline_text))
    yield from (spec.category_text(key)[:] for key in spec.category_keys)  # plain text, which Babel can copy
    if printed := paper_figures(spec):
        yield from (printed.source, *printed.critics, *printed.notes)
    for grouping in spec.grouping_texts.values():
        yield from (grouping.title, grouping.words)
    yield from (edition.title for edition in spec.editions)
    yield from (method.why for method in left_out(spec))
    yield from spec.tag_titles.values()
    yield from (capital(error.title) for error in spec.errors)
    yield from spec.number_check_examples.values()
