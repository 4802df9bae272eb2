"""One's own votes as a file: what was sent is read again from it, and nobody else gets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from auth import Forbidden, Identity, Unauthenticated
from auth.model import ANONYMOUS
from storage.database import Database
from storage.visibility import EntryVisibility
from submissions.metadata import parse_metadata
from submissions.own_votes import build, native_file, own_votes
from submissions.refusals import UnknownSubmission
from tests.databases import with_labels
from tests.factories.accounts import MAINTAINER
from tests.factories.prediction_files import MANY_VOTES, ONE_VOTE, Writer, random_votes
from tests.factories.submission_service import BENCHMARK, make_setup, person, signed_in_as_everybody
from tests.factories.three_benchmarks import labelled
from tests.vlrb.predictions.test_readers import PAIRS, TABLE, read
from vlrb.benchmarks.items import ItemTable
from vlrb.predictions.parse import Predictions
from vlrb.votes import OTHER, PREFERRED, UNDECIDED, Votes

ANN, BOB = person("ann"), person("bob")


def again(upload: Predictions, table: ItemTable) -> Predictions:
    return read(native_file(upload.votes, upload.margins, revision=upload.revision, table=table).encode(), table)


@pytest.mark.parametrize("write", [write for _, write in (MANY_VOTES | ONE_VOTE).values()])
def test_votes_and_differences_of_scores_come_back_whatever_the_format_was(write: Writer) -> None:
    upload = read(write(PAIRS, random_votes(len(PAIRS), 1, seed=3)))
    found = again(upload, TABLE)
    assert (found.revision, found.votes.sha256) == (upload.revision, upload.votes.sha256)
    if upload.margins is not None:
        assert found.margins is not None
        decided = upload.votes.matrix[:, 0] >= 0
        assert np.array_equal(found.margins[decided], upload.margins[decided], equal_nan=True)


def test_what_no_native_file_can_say_is_a_word() -> None:
    rlhf, _labels = labelled("mm-rlhf-rewardbench")
    for table, native, words in (
        (rlhf, {PREFERRED: 0, OTHER: 1}, {0: "first", 1: "second"}),
        (TABLE, {0: 0, 1: 1}, {PREFERRED: "preferred", OTHER: "rejected"}),
    ):
        said = {**native, **words, UNDECIDED: None}
        votes = Votes(np.resize(np.array(list(said), dtype=np.int8), (len(table), 1)))
        lines = native_file(votes, None, revision=table.revisions[-1], table=table).splitlines()
        places = table.in_revision(table.revisions[-1])
        expected = [[said[int(votes.matrix[place, 0])]] for place in places]
        assert [json.loads(line)["votes"] for line in lines] == expected


def test_its_owner_alone_gets_the_file(database: Database, tmp_path: Path) -> None:
    with_labels(database, "r1", benchmark=BENCHMARK)
    setup = make_setup(database, tmp_path, table=TABLE)
    _name, write = MANY_VOTES["native votes"]
    data = write(PAIRS, random_votes(len(PAIRS), 5))
    ids = {}
    for model, shown in (("Seen", EntryVisibility()), ("Unseen", EntryVisibility(published=False))):
        data += b"\n"
        ids[model] = setup.intake.submit(setup.arrive(data), parse_metadata({"model": model}), ANN, shown).id

    def file(model: str, user: Identity) -> str:
        return own_votes(database, TABLE, submission=ids[model], user=user)

    for model in ids:
        assert read(file(model, ANN).encode()).votes.sha256 == read(data).votes.sha256
        with pytest.raises(Unauthenticated):
            file(model, ANONYMOUS)
    for user in (BOB, MAINTAINER):
        with pytest.raises(Forbidden):
            file("Seen", user)
        with pytest.raises(UnknownSubmission):
            file("Unseen", user)
    app = FastAPI()
    app.include_router(build(database, lambda: TABLE))
    with TestClient(signed_in_as_everybody(app, database)) as everybody:
        asked = {model: everybody.get(f"/api/v1/submissions/{name}/votes").status_code for model, name in ids.items()}
    assert asked == {"Seen": 403, "Unseen": 404}, "where all have one account nothing is anybody's own"
