"""Import of a pool: candidates with their texts, draft labels and gold pairs. Preferences stay in the folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.annotation import pools
from storage.annotation.pools import Candidate, NewPool
from storage.database import Database
from storage.files.import_folders import FolderNotAllowed, folder_below
from storage.integrity import audit
from storage.jobs import tasks
from storage.jobs.tasks import TaskClaim
from vlrb.common.messages import _, ngettext
from vlrb.editions.errors import CurateError
from vlrb.editions.folder.edition import file_digest
from vlrb.editions.pools.pairs import PoolPair
from vlrb.editions.pools.pool import PAIRS, read_json
from vlrb.editions.pools.sources import read_objects
from vlrb.editions.verification_record import read_candidates
from vlrb.label_quality.annotation import PREFERENCES, VERDICTS

IMPORTED = "pools.imported"
CANDIDATES, GOLD, REPORT = "candidates.jsonl", "gold.jsonl", "filter.json"
_LONGEST_RATIONALE = 20_000


@dataclass(frozen=True, slots=True)
class PoolFolder:
    """Where the parts of a pool lie. `images`: the folder that image paths begin in."""

    images: Path
    candidates: Path

    def beside(self, name: str) -> Path:
        """Return the path of a file beside the candidates."""
        return self.candidates.with_name(name)


def import_pool(database: Database, claim: TaskClaim, *, directories: Sequence[Path] | None) -> None:
    """Record the pool that the task names. Raises CurateError, LeaseLost.

    `directories`: the folder must be below one of these; None where nobody else names it.
    """
    folder = find_folder(claim.params["folder"], directories)
    pairs = read_candidates(folder.candidates).pairs
    _check_images(folder, pairs)
    gold = _gold(folder.beside(GOLD), pairs)
    report = read_json(folder.beside(REPORT)) if folder.beside(REPORT).is_file() else None
    results = [_candidate(item, pair, gold=gold.get(item)) for item, pair in pairs.items()]
    facts = _facts(list(pairs.values()), results)
    path, digest = folder.candidates.relative_to(folder.images), file_digest(folder.candidates)
    by, why = claim.requested_by, claim.reason
    new = NewPool(
        claim.subject,
        str(folder.images),
        candidates=path.as_posix(),
        sha256=digest,
        pairs=len(pairs),
        facts=facts,
        report=report,
        reason=why,
        imported_by=by,
    )
    with database.write() as session:
        if any(pool.name == claim.subject for pool in pools.pools(session, claim.benchmark)):
            raise CurateError(_("There is a pool {subject}. Choose another name.", subject=claim.subject))
        number = pools.record(session, claim.benchmark, new=new, candidates=results)
        result = {"pool": number, "pairs": len(pairs), **facts}
        tasks.finish(
            session,
            claim,
            result=result,
            outcome=ngettext(
                "Pool {number} ({name}) has {n:,} pair.",
                "Pool {number} ({name}) has {n:,} pairs.",
                len(pairs),
                number=number,
                name=claim.subject,
            ),
        )
        about = {"pool": number, "name": claim.subject, "pairs": len(pairs), "sha256": digest, "task": claim.task_id}
        audit.append(session, IMPORTED, data={**about, "by": by, "reason": why})


def find_folder(named: str, directories: Sequence[Path] | None) -> PoolFolder:
    """Return the parts of a folder that `vlrb.editions` wrote: candidates of a filter, or all pairs of a pool.

    Raises:
        CurateError: it is no such folder; the same words whether a folder elsewhere exists or not.
    """
    try:
        folder = Path(named).resolve() if directories is None else folder_below(named, directories)
    except FolderNotAllowed as error:
        raise CurateError(str(error)) from None
    for path in (folder / CANDIDATES, folder / "filtered" / CANDIDATES, folder / PAIRS):
        if path.is_file():
            images = folder.parent if path == folder / CANDIDATES and (folder.parent / PAIRS).is_file() else folder
            return PoolFolder(images, path)
    raise CurateError(
        _(
            "{folder} holds neither {candidates} nor {pairs}. `vlrb edition pool import` and `filter` write them.",
            folder=folder,
            candidates=CANDIDATES,
            pairs=PAIRS,
        )
    )


def _check_images(folder: PoolFolder, pairs: Mapping[str, PoolPair]) -> None:
    root = folder.images.resolve()
    paths = {pair.image: (root / pair.image).resolve() for pair in pairs.values()}
    missing = sorted(name for name, path in paths.items() if not (path.is_relative_to(root) and path.is_file()))
    if missing:
        raise CurateError(
            ngettext(
                "{n:,} image of the pool cannot be found: {first!r} below {images}. "
                "Copy the whole pool, with its images.",
                "{n:,} images of the pool cannot be found, for instance {first!r} below {images}. Copy the whole pool, "
                "with its images.",
                len(missing),
                first=missing[0],
                images=folder.images,
            )
        )


def _gold(path: Path, pairs: Mapping[str, PoolPair]) -> dict[str, str]:
    if not path.is_file():
        return {}
    ids = {pair.id: item for item, pair in pairs.items()}
    gold = {}
    for number, line in read_objects(path):
        named, verdict = line.get("item", line.get("id")), line.get("verdict")
        item = named if isinstance(named, str) and named in pairs else ids.get(str(named))
        if item is None or verdict not in VERDICTS:
            known = ", ".join(VERDICTS)
            raise CurateError(
                _(
                    "{path}, line {number}: give `item` or `id` of a candidate, and `verdict` ({known}).",
                    path=path,
                    number=number,
                    known=known,
                )
            )
        gold[item] = verdict
    return gold


def _candidate(item: str, pair: PoolPair, *, gold: str | None) -> Candidate:
    draft = pair.draft
    stated = None if draft is None else PREFERENCES[draft["preferred"]]
    why = None if draft is None else str(draft.get("rationale") or "")[:_LONGEST_RATIONALE]
    model = None if draft is None else str(draft.get("judge") or "")
    first = None if draft is None or draft.get("shown_first") is None else PREFERENCES[draft["shown_first"]]
    return Candidate(item, pair.query, *pair.responses, pair.image, stated, why, model, gold, first)


def _facts(pairs: Sequence[PoolPair], candidates: Sequence[Candidate]) -> dict[str, Any]:
    return {
        "sources": dict(Counter(pair.source for pair in pairs)),
        "categories": dict(Counter(pair.category for pair in pairs)),
        "licences": dict(Counter(f"{pair.source}: {pair.licence}" for pair in pairs)),
        "drafts": sum(candidate.draft is not None for candidate in candidates),
        "gold": sum(candidate.gold is not None for candidate in candidates),
    }
