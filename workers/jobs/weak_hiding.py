"""Search for hidden label sets that nearly equal a public one. Labels stay here; a figure leaves."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from storage.database import Database
from storage.labels import label_imports, weak_hiding
from storage.labels.weak_hiding import WeaklyHidden
from vlrb.benchmarks.label_files import LabelsError
from vlrb.benchmarks.labels import LabelSet
from vlrb.disclosure import PUBLIC, merged
from vlrb.weak_hiding import overlap, submissions_to_reveal
from workers.labels.store import LabelStore
from workers.scorer import Scorer

log = logging.getLogger(__name__)


def levels_of(database: Database, scorer: Scorer) -> dict[str, str]:
    """Return label revision -> disclosure level of all revisions that there are, drafts too."""
    with database.read() as session:
        known = dict.fromkeys((*scorer.labels, *label_imports.names(session, scorer.benchmark)), PUBLIC)
        return known | merged(scorer.hidden, label_imports.hidden_revisions(session, scorer.benchmark))


def note(database: Database, scorer: Scorer, *, store: LabelStore, levels: Mapping[str, str], accepted: bool) -> None:
    """Compare every set that is not public with every public one, as far as this worker holds them, and record it.

    ``accepted``: the settings say that configured sets may be weakly hidden.
    """
    held, benchmark = _loaded_labels(scorer, store, levels=levels), scorer.table.benchmark
    pairs = weak_pairs(scorer, held.values(), public=held.values(), levels=levels)
    with database.write() as session:
        imported = label_imports.names(session, scorer.benchmark)
        before = {pair[:2] for pair in weak_hiding.known(session, benchmark) if pair.accepted}
        results = [
            pair._replace(accepted=pair[:2] in before if pair.revision in imported else accepted) for pair in pairs
        ]
        weak_hiding.record(session, benchmark, weak_sets=results, looked_at=list(held))
    for result in results:
        if not result.accepted:
            log.warning(
                "labels.weakly_hidden", extra={"data": {"label_revision": result.revision, "like": result.against}}
            )


def of_new(
    database: Database, scorer: Scorer, *, store: LabelStore, labels: LabelSet, level: str
) -> list[WeaklyHidden]:
    """Return what a new set would make weakly hidden: itself, or sets that it gives away."""
    levels = levels_of(database, scorer) | {labels.revision: level}
    held = _loaded_labels(
        scorer, store, levels={name: level for name, level in levels.items() if name != labels.revision}
    )
    new = [labels]
    return [
        *weak_pairs(scorer, new, public=held.values(), levels=levels),
        *weak_pairs(scorer, held.values(), public=new, levels=levels),
    ]


def weak_pairs(
    scorer: Scorer, hidden: Iterable[LabelSet], *, public: Iterable[LabelSet], levels: Mapping[str, str]
) -> list[WeaklyHidden]:
    """Return those of the first that are not public and agree too much with one of the second that is."""
    open_ones = [labels for labels in public if levels.get(labels.revision, PUBLIC) == PUBLIC]
    weak_sets = []
    for hidden_set in hidden:
        level = levels.get(hidden_set.revision, PUBLIC)
        for other in open_ones if level != PUBLIC else ():
            shared = overlap(hidden_set, other, table=scorer.table)
            if shared.weak:
                submissions = submissions_to_reveal(shared, level)
                weak_sets.append(
                    WeaklyHidden(hidden_set.revision, other.revision, submissions=submissions, accepted=False)
                )
    return weak_sets


def _loaded_labels(scorer: Scorer, store: LabelStore, *, levels: Mapping[str, str]) -> dict[str, LabelSet]:
    held = {name: scorer.labels[name] for name in scorer.labels}
    for name in levels:
        if name not in held and store.has(name):
            try:
                held[name] = store.load(name).labels
            except LabelsError:
                continue  # of a damaged file the worker speaks when it is needed
    return held
