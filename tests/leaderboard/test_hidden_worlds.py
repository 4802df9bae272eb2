"""A9: of hidden labels, every public answer tells the rounded scores of an entry, and nothing beyond.

The proof is two worlds that agree in every score that a level shows, as it rounds it, and in nothing finer: all that
the service answers is the same in both.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow.parquet as parquet
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlalchemy import select, text
from starlette.testclient import TestClient

from receipts.jws import open_signer
from settings import Settings
from storage.boards import snapshots
from storage.boards.snapshots import snapshot_at
from storage.database import Database
from storage.integrity import audit
from storage.models.core import AuditEvent
from tests.databases import a_submission, new_database, on_record
from tests.factories.services.layers import application_within, flat
from tests.factories.specs import VL
from vlrb.benchmarks.items import ItemTable
from vlrb.benchmarks.labels import LabelSet, make_label_set
from vlrb.client.jws import read
from vlrb.demo import demo_items, demo_labels, demo_pairs
from vlrb.protocols import category_counts
from vlrb.scorecard import SCORER_VERSION
from vlrb.scoring import Tally, tally
from vlrb.votes import Votes
from web.app import create_app
from web.services import build_services
from workers.demo_files import write_demo
from workers.runner import Worker, drain
from workers.scorer import Scorer
from workers.startup import prepare

ENTRIES = tuple(f"e{letter * 11}" for letter in "abc")
K = 3
OPENID = {
    "PUBLIC_URL": "http://127.0.0.1",
    "OIDC_ISSUER": "http://127.0.0.1:9",
    "OIDC_CLIENT_ID": "nobody",
    "OIDC_CLIENT_SECRET": "asks",
    "SESSION_SECRET": "Hc7Yt3Nw9Kd5Rb1Xq8Zs6Vm2Lp4Jf0GaEuOiTyBn",
}
# What stands in an address for a parameter; where nothing is said, what a new route will probably take.
FILLED: Mapping[str, tuple[str, ...]] = {
    "entry_id": ENTRIES[:1],
    "suffix": ("csv", "json", "md", "tex", "parquet"),
    "project": ("demo",),
}
OTHERWISE = (ENTRIES[0], "1")
PRIVATE = ("/auth", "/account")  # these lead to the identity provider
FINER = (
    f"?protocol=paper&grouping=povid-in-general&revision=demo&entries={ENTRIES[0]},{ENTRIES[1]}"
    f"&only={ENTRIES[0]}&not={ENTRIES[1]}"
)


Vector = npt.NDArray[np.int8]


class Secret:
    """The demo benchmark and its labels."""

    def __init__(self) -> None:
        pairs = demo_pairs()
        self.table: ItemTable = demo_items(pairs)
        self.labels: LabelSet = demo_labels(pairs, self.table)
        self.truth: Vector = self.labels.preferred


@dataclass
class DisclosureWorld:
    """A service in this process whose worker has scored the same three files under some labels."""

    site: TestClient
    application: FastAPI
    database: Database
    tallies: list[Tally]

    def answer(self, address: str) -> str:
        """Return what anybody gets, without what differs between any two runs."""
        body = self.site.get(address).content
        if body.startswith(b"PAR1"):
            table = parquet.read_table(io.BytesIO(body))
            body = f"{table.schema.metadata} {table.to_pylist()}".encode()
        return _settled(body.decode("utf-8", "replace"))

    def answers(self) -> dict[str, str]:
        """Address -> answer, for all that can be asked, with every finer rule at once."""
        return {path: self.answer(path + FINER) for path in self.paths()}

    def paths(self) -> list[str]:
        """Return all that can be asked for without a sign-in."""
        found = []
        for route in flat(self.application.routes):
            if isinstance(route, APIRoute) and "GET" in route.methods and not route.path.startswith(PRIVATE):
                found += _filled(route.path)
        return sorted(path for path in set(found) | {"/openapi.json"})


def _filled(path: str) -> list[str]:
    """Return the address for every value of its first parameter, the first value of the others."""
    first, *others = re.findall(r"\{(\w+)[^}]*\}", path) or [""]
    for name in others:
        path = re.sub(rf"\{{{name}[^}}]*\}}", FILLED.get(name, OTHERWISE)[0], path)
    values = FILLED.get(first, OTHERWISE)
    return [re.sub(r"\{[^}]+\}", value, path) for value in values] if first else [path]


def _settled(body: str) -> str:
    """Without digests, hashes of the chain, keys and signatures, instants and ages, which differ from run to run.

    What they are made of is public or holds a nonce: see the last test.
    """
    body = re.sub(r"\beyJ[\w-]+\.[\w-]+\.[\w-]+", lambda found: json.dumps(read(found[0])), body)  # receipts
    body = re.sub(r"\b[0-9a-f]{12,128}\b", "#", body)
    body = re.sub(r'"(x|kid)":"[^"]+"', "#", body)
    body = re.sub(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?", "@", body)
    body = re.sub(r"\b1[6-9]\d{8}(\.\d+)?\b", "@", body)
    body = re.sub(r"\b\d\d:\d\d UTC", "@", body)  # in a line of its own below the day
    body = re.sub(
        r"(?<=<td class=\"n\">)(\d+ (second|minute|hour|day)s? ago|now|less than [^<]+)", "~", body
    )  # /status
    return re.sub(r"((?:age|scored|board)_seconds\"?:? ?)-?[\d.]+", r"\1~", body)


def _files(secret: Secret) -> list[Votes]:
    """Return three judges with K votes."""
    made = []
    for number in range(len(ENTRIES)):
        dice = np.random.default_rng(number)
        right = dice.random((len(secret.truth), K)) < 0.50 + 0.08 * number
        votes = np.where(right, secret.truth[:, np.newaxis], 1 - secret.truth[:, np.newaxis]).astype(np.int8)
        votes[dice.random(votes.shape) < 0.03] = -1
        made.append(Votes(votes))
    return made


def _signs(secret: Secret, labels: Vector, *, files: list[Votes]) -> npt.NDArray[np.int8]:
    """(items, judges): 1 where the majority is right, -1 where it is wrong, 0 where it decides nothing."""
    right, wrong = (
        np.stack([2 * (file.matrix == wanted[:, np.newaxis]).sum(axis=1) > K for file in files], axis=1)
        for wanted in (labels, 1 - labels)
    )
    return right.astype(np.int8) - wrong


def _other_labels(secret: Secret, files: list[Votes]) -> LabelSet:
    """Return labels under which every judge has the same counts in every category, and others in sources, tags and
    curves.

    Turned over are pairs of labels of one category and two sources: on one exactly those judges are right who are wrong
    on the other, so no judge gains or loses anything.
    """
    signs, turned = _signs(secret, secret.truth, files=files), secret.truth.copy()
    used: set[int] = set()
    waiting: dict[tuple[int, int, bytes], list[int]] = {}
    for index in np.flatnonzero((signs != 0).all(axis=1)).tolist():
        source, category = int(secret.table.source_index[index]), int(secret.table.category_index[index])
        match = next(
            (one for one in waiting if one[0] == category and one[1] != source and one[2] == (-signs[index]).tobytes()
             and waiting[one]),
            None,
        )  # fmt: skip
        if match is None:
            waiting.setdefault((category, source, signs[index].tobytes()), []).append(index)
        else:
            used.update((index, waiting[match].pop()))
    for index in used:
        turned[index] = 1 - turned[index]
    tags = dict(enumerate(secret.labels.tags or ()))
    return make_label_set("demo", secret.table, preferred=dict(enumerate(turned.tolist())), tags=tags)


def _world(folder: Path, secret: Secret, *, labels: LabelSet, files: list[Votes]) -> DisclosureWorld:
    settings = Settings.from_env({"DATA_DIR": str(folder), **OPENID})
    database = new_database(settings.database_url)
    scorer = Scorer(secret.table, {"demo": labels}, version=SCORER_VERSION)
    prepare(database, scorer, label_revision="demo", levels={"demo": "hidden:categories"})
    with database.write() as session:
        for number, (name, file) in enumerate(zip(ENTRIES, files, strict=True)):
            about = {"id": name, "created_at": 1_760_000_000.0 + number, "owner": f"owner{number}"}
            session.add(a_submission(number, votes=file.pack(), votes_per_item=K, **about))
    on_record(database, ENTRIES)
    worker = Worker(database, [scorer], lease_seconds=60.0)
    drain(worker, lambda: False, rest=lambda seconds: None)
    worker.heartbeat()
    with database.write() as session:  # alive for as long as the test takes: pages tell of one that is silent
        session.execute(text("UPDATE workers SET heartbeat_at = heartbeat_at + 1000000"))
    services = build_services(
        settings, database, signer=open_signer(settings.receipt_key.get_secret_value(), settings.keys_dir)
    )
    whole = create_app(services, on_misconfigured=lambda: None)
    return DisclosureWorld(
        TestClient(whole, "http://127.0.0.1", raise_server_exceptions=False),
        application_within(whole),
        database=database,
        tallies=[tally(file, labels, table=secret.table) for file in files],
    )


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the demo's files, which no world changes; to draw its pictures would take seconds."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    write_demo(folder)
    return folder


Worlds = tuple[DisclosureWorld, DisclosureWorld]


@pytest.fixture(scope="module")
def worlds(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    """Yield two worlds that are told apart by their hidden labels alone."""
    folder = tmp_path_factory.mktemp("worlds")
    secret = Secret()
    files = _files(secret)
    other = _other_labels(secret, files)
    for name in ("one", "two"):
        shutil.copytree(demo, folder / name / "demo", copy_function=os.link)
    made = (
        _world(folder / "one", secret, labels=secret.labels, files=files),
        _world(folder / "two", secret, labels=other, files=files),
    )
    yield made
    for world in made:
        world.database.close()


def test_the_worlds_agree_in_categories_and_in_nothing_finer(worlds: Worlds) -> None:
    for one, two in zip(worlds[0].tallies, worlds[1].tallies, strict=True):
        assert (category_counts(one.counts, VL)[:, :4] == category_counts(two.counts, VL)[:, :4]).all()
        finer = (one.counts[:, 1] != two.counts[:, 1]) | (one.agreeing != two.agreeing).any(axis=1)
        assert int(finer.sum()) >= 10  # of 15 sources, tags and lengths


def test_a9_every_public_answer_is_the_same_in_both_worlds(worlds: Worlds) -> None:
    one, two = (world.answers() for world in worlds)
    assert set(one) == set(two)
    assert len(one) > 50
    assert sum("judge 0" in body for body in one.values()) > 10  # the entries are there to be told about
    different = [path for path in one if one[path] != two[path]]
    assert not different


def test_a9_no_public_digest_can_be_tried_out(worlds: Worlds) -> None:
    """Anyone who guesses all that is hidden must not be able to see in a digest whether the guess is right."""
    database = worlds[0].database
    with database.read() as session:
        name = snapshot_at(session, "demo", when="2999-01-01")
        assert name is not None
        body = orjson.loads(snapshots.content(session, name))
        for kind in (audit.SCORED, audit.SCORES_RECORDED):
            for event in session.scalars(select(AuditEvent.body).where(AuditEvent.kind == kind)):
                assert len(orjson.loads(event)["nonce"]) == 32
    assert len(body["nonce"]) == 32
    assert body["nonce"] not in worlds[0].site.get("/api/v1/leaderboard").text
    page = worlds[0].site.get(f"/entries/{ENTRIES[0]}")
    again = worlds[0].site.get(f"/entries/{ENTRIES[0]}")
    assert page.headers["etag"] == again.headers["etag"]  # of the public bytes, which is all that it hashes
