"""What receipts need: published keys, salted commitments of label sets, and which event is about what."""

import hmac
import json
import secrets

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import create_replace_trigger, drop_replace_trigger

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "events": (("seq",), ("prev_hash",)),
    "scores": (("id",), ("submission_id", "label_revision", "scorer_version")),
}
ABOUT_THE_BOARD = ("board.pointed", "rescore.applied", "rescore.undone")


def upgrade() -> None:
    _create_tables()
    _commit_to_label_sets()
    _index_events()
    for table, keys in KEYS.items():
        create_replace_trigger(table, *keys)


def downgrade() -> None:
    for table in KEYS:
        drop_replace_trigger(table)
    for table in ("event_subjects", "label_commitments", "receipt_keys"):
        op.drop_table(table)


def _create_tables() -> None:
    op.create_table(
        "receipt_keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.CheckConstraint("length(id) = 16 AND id = lower(id)", name=op.f("ck_receipt_keys_id")),
        sa.CheckConstraint("length(public_key) = 44", name=op.f("ck_receipt_keys_public_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_receipt_keys")),
    )
    op.create_table(
        "label_commitments",
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.CheckConstraint("length(salt) = 64 AND salt = lower(salt)", name=op.f("ck_label_commitments_salt")),
        sa.CheckConstraint(
            "length(commitment) = 64 AND commitment = lower(commitment)", name=op.f("ck_label_commitments_commitment")
        ),
        sa.ForeignKeyConstraint(["revision"], ["label_sets.revision"], name=op.f("fk_label_commitments_revision")),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_label_commitments")),
    )
    op.create_table(
        "event_subjects",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.CheckConstraint("length(subject) BETWEEN 1 AND 100", name=op.f("ck_event_subjects_subject")),
        sa.PrimaryKeyConstraint("subject", "seq", name=op.f("pk_event_subjects")),
    )


def _commit_to_label_sets() -> None:
    """For the revisions that are known already; imported ones have a commitment."""
    columns = (sa.column("revision"), sa.column("salt"), sa.column("commitment"))
    known = op.get_bind().execute(
        sa.text("SELECT revision, digest FROM label_sets WHERE revision NOT IN (SELECT revision FROM imported_labels)")
    )
    for name, digest in known.all():
        salt = secrets.token_bytes(32)
        commitment = hmac.new(salt, digest.encode("ascii"), "sha256").hexdigest()
        row = {"revision": name, "salt": salt.hex(), "commitment": commitment}
        op.execute(sa.insert(sa.table("label_commitments", *columns)).values(**row))


def _index_events() -> None:
    """For the events that are recorded already."""
    index = sa.table("event_subjects", sa.column("subject"), sa.column("seq"))
    events = op.get_bind().execute(sa.text("SELECT seq, kind, body FROM events"))
    rows = [
        {"subject": subject, "seq": seq}
        for seq, kind, body in events.all()
        for subject in sorted(_subjects(kind, body))
    ]
    if rows:
        op.get_bind().execute(sa.insert(index), rows)


def _subjects(kind: str, body: str) -> set[str]:
    event = json.loads(body)
    if kind == "scores.recorded":
        return {f"labels:{event['label_revision']}"}
    if kind in ABOUT_THE_BOARD:
        return {"board:"}
    return {event[name] for name in ("submission", "entry", "into") if isinstance(event.get(name), str)}
