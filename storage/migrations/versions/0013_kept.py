"""What is never changed, the database itself refuses to change: label revisions, and what receipts attest."""

from storage.migrations.triggers import (
    ImmutableRule,
    create_replace_trigger,
    create_trigger,
    drop_replace_trigger,
    drop_trigger,
)

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

# Table -> columns that are written with the row and never again; none named: all of them.
WRITTEN_ONCE: dict[str, tuple[str, ...]] = {
    "label_sets": (),
    "label_commitments": (),
    "receipt_keys": (),
    # Not published_at: applying and undoing set it. Retiring sets retired_at and salt.
    "imported_labels": (
        "revision",
        "benchmark",
        "disclosure",
        "spec",
        "items",
        "digest",
        "commitment",
        "difference",
        "reason",
        "requested_by",
        "imported_at",
    ),
    # Not the owner and the description, which both are edited. The receipt is signed after the row is there.
    "submissions": (
        "id",
        "benchmark",
        "content_sha256",
        "size_bytes",
        "file_name",
        "format",
        "revision",
        "votes_per_item",
        "votes",
        "parse_rate",
        "first_shown_rate",
        "self_consistency",
        "report",
        "created_at",
    ),
    # Not `at`, from which quotas are counted: the receipt has its own.
    "attempts": ("submission_id", "label_revision", "number", "policy"),
}
SIGNED = """CAST(OLD.receipt AS TEXT) LIKE '%"signature":%'"""  # ->> needs SQLite 3.38
SET_ONCE = (
    ImmutableRule("imported_labels", "UPDATE", ("retired_at", "salt"), "OLD.retired_at IS NOT NULL", "other_salt"),
    ImmutableRule("submissions", "UPDATE", ("receipt",), SIGNED, "other_receipt"),
)
REFUSED = (
    *(ImmutableRule(table, "UPDATE", columns) for table, columns in WRITTEN_ONCE.items()),
    *(ImmutableRule(table, statement) for table in WRITTEN_ONCE for statement in ("DELETE", "TRUNCATE")),
    *SET_ONCE,
)
KEYS = {
    "label_sets": (("revision",),),
    "label_commitments": (("revision",),),
    "receipt_keys": (("id",),),
    "imported_labels": (("revision",),),
    "submissions": (
        ("id",),
        ("benchmark", "owner", "content_sha256"),
        ("benchmark", "owner", "model", "version"),
    ),
    "attempts": (("submission_id",),),
}


def upgrade() -> None:
    for one in REFUSED:
        create_trigger(one)
    for table, keys in KEYS.items():
        create_replace_trigger(table, *keys)


def downgrade() -> None:
    for table in KEYS:
        drop_replace_trigger(table)
    for one in REFUSED:
        drop_trigger(one)
