"""Every table, index and trigger of the first release."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import ImmutableRule, create_replace_trigger, create_trigger

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Table -> columns that are written with the row and never again; none named: all of them.
WRITTEN_ONCE: dict[str, tuple[str, ...]] = {
    "label_sets": (),
    "label_commitments": (),
    # Not published_at: applying and undoing set it. Retiring sets retired_at and salt, once.
    "imported_labels": (
        "revision",
        "benchmark",
        "spec",
        "items",
        "digest",
        "commitment",
        "difference",
        "reason",
        "requested_by",
        "imported_at",
    ),
    # Not the owner and the description, which both are edited.
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
    # Not `at`, from which quotas are counted: the event has its own.
    "attempts": ("submission_id", "label_revision", "number", "policy"),
}
APPLIED = "OLD.published_at IS NOT NULL OR OLD.retired_at IS NOT NULL"
NOT_DISCLOSED = "OLD.disclosure = 'public' OR NEW.disclosure <> 'public'"
RULES = (
    *(ImmutableRule(table, statement) for table in ("events", "scores") for statement in ("UPDATE", "DELETE")),
    *(ImmutableRule(table, "TRUNCATE") for table in ("events", "scores")),
    ImmutableRule("snapshots", "UPDATE"),  # snapshots may be thinned out, never changed
    *(ImmutableRule(table, statement) for table in ("relations", "edits") for statement in ("UPDATE", "DELETE")),
    # Without this row nothing says whether later events are gone.
    *(ImmutableRule("audit_head", statement) for statement in ("DELETE", "TRUNCATE")),
    *(ImmutableRule(table, "UPDATE", columns) for table, columns in WRITTEN_ONCE.items()),
    *(ImmutableRule(table, "TRUNCATE") for table in WRITTEN_ONCE),
    *(ImmutableRule(table, "DELETE") for table in WRITTEN_ONCE if table != "imported_labels"),
    # Labels that are not public may become so, and nothing else.
    ImmutableRule("imported_labels", "UPDATE", ("disclosure",), NOT_DISCLOSED, "other_level"),
    ImmutableRule("imported_labels", "UPDATE", ("retired_at", "salt"), "OLD.retired_at IS NOT NULL", "other_salt"),
    # A draft may be discarded, unless something was ever scored under it: then it is registered, see below.
    ImmutableRule("imported_labels", "DELETE", (), APPLIED, "applied"),
    ImmutableRule("submissions", "UPDATE", ("salt",), what="other_salt"),
)
KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "events": (("seq",), ("prev_hash",)),
    "scores": (("id",), ("submission_id", "label_revision", "scorer_version")),
    "label_sets": (("benchmark", "revision"),),
    "label_commitments": (("benchmark", "revision"),),
    "imported_labels": (("benchmark", "revision"),),
    "submissions": (("id",), ("benchmark", "owner", "content_sha256"), ("benchmark", "owner", "model", "version")),
    "attempts": (("submission_id",),),
}
REGISTERED = "imported_labels_no_registered"
VERDICTS = "verdict IN ('a', 'b', 'both-false', 'vague-style', 'vague-knowledge', 'poor-image', 'other')"


def upgrade() -> None:
    for create in TABLES.values():
        create()
    head = sa.table("audit_head", sa.column("id"), sa.column("seq"), sa.column("hash"))
    op.execute(sa.insert(head).values(id=1, seq=0, hash="0" * 64))
    if _postgresql():
        op.execute(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '% may not be changed', TG_TABLE_NAME; END $$"
        )
    for rule in RULES:
        create_trigger(rule)
    for table, keys in KEYS.items():
        create_replace_trigger(table, *keys)
    refuse_registered()


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
    if _postgresql():
        op.execute("DROP FUNCTION refuse_change()")
        op.execute(f"DROP FUNCTION {REGISTERED}()")


def _postgresql() -> bool:
    return op.get_bind().dialect.name == "postgresql"


def refuse_registered() -> None:
    """Refuse changes of the labels of a revision that is registered: scores were made of it."""
    same = "label_sets.benchmark = OLD.benchmark AND label_sets.revision = OLD.revision"
    known = f"EXISTS (SELECT 1 FROM label_sets WHERE {same})"  # noqa: S608 - constant names
    refusal = "imported_labels may not be changed"
    if _postgresql():  # whose triggers know no condition that looks elsewhere
        op.execute(
            f"CREATE FUNCTION {REGISTERED}() RETURNS trigger AS $$ BEGIN "
            f"IF {known} THEN RAISE EXCEPTION '{refusal}'; END IF; RETURN OLD; END $$ LANGUAGE plpgsql"
        )
        run = f"FOR EACH ROW EXECUTE FUNCTION {REGISTERED}()"
    else:
        run = f"WHEN {known} BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
    op.execute(f"CREATE TRIGGER {REGISTERED} BEFORE DELETE ON imported_labels {run}")


def _create_accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("organisations", sa.JSON(), nullable=False),
        sa.Column("confirmed_at", sa.Double(), nullable=False),
        sa.Column("issuer_created_at", sa.Double(), nullable=True),
        sa.Column("issuer_token", sa.LargeBinary(), nullable=True),
        sa.Column("first_seen_at", sa.Double(), nullable=False),
        sa.Column("last_seen_at", sa.Double(), nullable=False),
        sa.Column("banned_at", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "length(id) = 12 AND substr(id, 1, 1) = 'a' AND id = lower(id)", name=op.f("ck_accounts_id")
        ),
        sa.CheckConstraint("length(issuer) BETWEEN 1 AND 500", name=op.f("ck_accounts_issuer")),
        sa.CheckConstraint("length(subject) BETWEEN 1 AND 255", name=op.f("ck_accounts_subject")),
        sa.CheckConstraint("length(trim(name)) > 0 AND length(name) <= 200", name=op.f("ck_accounts_name")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_accounts_issuer_subject")),
    )


def _create_audit_head() -> None:
    op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_audit_head_single")),
        sa.CheckConstraint("length(hash) = 64 AND hash = lower(hash)", name=op.f("ck_audit_head_hash")),
        sa.CheckConstraint("seq >= 0", name=op.f("ck_audit_head_seq")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
    )


def _create_auth_failures() -> None:
    op.create_table(
        "auth_failures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(kind) BETWEEN 1 AND 64", name=op.f("ck_auth_failures_kind")),
        sa.CheckConstraint("length(source) = 64 AND source = lower(source)", name=op.f("ck_auth_failures_source")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_auth_failures")),
    )
    op.create_index("ix_auth_failures_at", "auth_failures", ["at"], unique=False)
    op.create_index("ix_auth_failures_kind_source_at", "auth_failures", ["kind", "source", "at"], unique=False)


def _create_backups() -> None:
    op.create_table(
        "backups",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("chain_seq", sa.Integer(), nullable=True),
        sa.Column("chain_hash", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(finished_at IS NULL) OR (error IS NOT NULL) <> (sha256 IS NOT NULL)", name=op.f("ck_backups_ended")
        ),
        sa.CheckConstraint(
            "(sha256 IS NULL) = (chain_seq IS NULL) AND (sha256 IS NULL) = (chain_hash IS NULL)",
            name=op.f("ck_backups_chain"),
        ),
        sa.CheckConstraint("(sha256 IS NULL) = (size_bytes IS NULL)", name=op.f("ck_backups_size")),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 200", name=op.f("ck_backups_name")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_backups")),
    )
    op.create_index("ix_backups_started_at", "backups", ["started_at"], unique=False)


def _create_disputes() -> None:
    op.create_table(
        "disputes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("better", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.CheckConstraint(
            "(state = 'open') = (decided_at IS NULL) AND (state = 'open') = (decided_by IS NULL) "
            "AND (state = 'open') = (note IS NULL)",
            name=op.f("ck_disputes_decided"),
        ),
        sa.CheckConstraint("better IN ('a', 'b', 'equal', 'both-wrong', 'bad-item')", name=op.f("ck_disputes_better")),
        sa.CheckConstraint("state IN ('open', 'accepted', 'rejected')", name=op.f("ck_disputes_state")),
        sa.CheckConstraint("length(account) BETWEEN 1 AND 200", name=op.f("ck_disputes_account")),
        sa.CheckConstraint("length(item) BETWEEN 1 AND 70", name=op.f("ck_disputes_item")),
        sa.CheckConstraint("length(note) BETWEEN 1 AND 500", name=op.f("ck_disputes_note")),
        sa.CheckConstraint("length(reason) BETWEEN 20 AND 2000", name=op.f("ck_disputes_reason")),
        sa.CheckConstraint("length(tag) BETWEEN 1 AND 64", name=op.f("ck_disputes_tag")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_disputes")),
    )
    op.create_index("ix_disputes_account", "disputes", ["account"], unique=False)
    op.create_index(
        "uq_disputes_open",
        "disputes",
        ["benchmark", "item", "account"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )


def _create_event_subjects() -> None:
    op.create_table(
        "event_subjects",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.CheckConstraint("length(subject) BETWEEN 1 AND 200", name=op.f("ck_event_subjects_subject")),
        sa.PrimaryKeyConstraint("subject", "seq", name=op.f("pk_event_subjects")),
    )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("prev_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.CheckConstraint("substr(body, 1, 1) = '{'", name=op.f("ck_events_body")),
        sa.CheckConstraint("length(hash) = 64 AND hash = lower(hash)", name=op.f("ck_events_hash")),
        sa.CheckConstraint("length(kind) BETWEEN 1 AND 64", name=op.f("ck_events_kind")),
        sa.CheckConstraint("length(prev_hash) = 64 AND prev_hash = lower(prev_hash)", name=op.f("ck_events_prev_hash")),
        sa.CheckConstraint("seq > 0", name=op.f("ck_events_seq")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_events")),
        sa.UniqueConstraint("prev_hash", name=op.f("uq_events_prev_hash")),
    )


def _create_imported_labels() -> None:
    op.create_table(
        "imported_labels",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("disclosure", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("difference", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("imported_at", sa.Double(), nullable=False),
        sa.Column("published_at", sa.Double(), nullable=True),
        sa.Column("retired_at", sa.Double(), nullable=True),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "disclosure IN ('public', 'hidden:categories', 'hidden')", name=op.f("ck_imported_labels_disclosure")
        ),
        sa.CheckConstraint("(retired_at IS NULL) = (salt IS NULL)", name=op.f("ck_imported_labels_retired")),
        sa.CheckConstraint("items > 0", name=op.f("ck_imported_labels_items")),
        sa.CheckConstraint("length(benchmark) BETWEEN 1 AND 64", name=op.f("ck_imported_labels_benchmark")),
        sa.CheckConstraint(
            "length(commitment) = 64 AND commitment = lower(commitment)", name=op.f("ck_imported_labels_commitment")
        ),
        sa.CheckConstraint("length(digest) = 64 AND digest = lower(digest)", name=op.f("ck_imported_labels_digest")),
        sa.CheckConstraint("length(revision) BETWEEN 1 AND 64", name=op.f("ck_imported_labels_revision")),
        sa.CheckConstraint("length(salt) = 64 AND salt = lower(salt)", name=op.f("ck_imported_labels_salt")),
        sa.PrimaryKeyConstraint("benchmark", "revision", name=op.f("pk_imported_labels")),
    )


def _create_label_candidates() -> None:
    op.create_table(
        "label_candidates",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("benchmark", "place", name=op.f("pk_label_candidates")),
        sa.UniqueConstraint("benchmark", "item", name=op.f("uq_label_candidates_benchmark_item")),
    )


def _create_label_sets() -> None:
    op.create_table(
        "label_sets",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("registered_at", sa.Double(), nullable=False),
        sa.CheckConstraint("items > 0", name=op.f("ck_label_sets_items")),
        sa.CheckConstraint("length(benchmark) BETWEEN 1 AND 64", name=op.f("ck_label_sets_benchmark")),
        sa.CheckConstraint("length(digest) = 64 AND digest = lower(digest)", name=op.f("ck_label_sets_digest")),
        sa.CheckConstraint("length(revision) BETWEEN 1 AND 64", name=op.f("ck_label_sets_revision")),
        sa.PrimaryKeyConstraint("benchmark", "revision", name=op.f("pk_label_sets")),
    )


def _create_quota_grants() -> None:
    op.create_table(
        "quota_grants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("extra", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("granted_by", sa.Text(), nullable=False),
        sa.Column("granted_at", sa.Double(), nullable=False),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.CheckConstraint("extra BETWEEN 1 AND 1000", name=op.f("ck_quota_grants_extra")),
        sa.CheckConstraint("length(account) BETWEEN 1 AND 200", name=op.f("ck_quota_grants_account")),
        sa.CheckConstraint("length(reason) BETWEEN 1 AND 500", name=op.f("ck_quota_grants_reason")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quota_grants")),
    )
    op.create_index("ix_quota_grants_account", "quota_grants", ["account"], unique=False)


def _create_quota_subjects() -> None:
    op.create_table(
        "quota_subjects",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.CheckConstraint("length(subject) BETWEEN 1 AND 300", name=op.f("ck_quota_subjects_subject")),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_quota_subjects")),
    )


def _create_reported_results() -> None:
    op.create_table(
        "reported_results",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("organisation", sa.Text(), nullable=True),
        sa.Column("judge_type", sa.Text(), nullable=True),
        sa.Column("base_model", sa.Text(), nullable=True),
        sa.Column("parameters_b", sa.Double(), nullable=True),
        sa.Column("open_weights", sa.Boolean(create_constraint=True, name="open_weights"), nullable=True),
        sa.Column("votes_per_item", sa.Integer(), nullable=True),
        sa.Column("date", sa.Text(), nullable=True),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("imported_by", sa.Text(), nullable=False),
        sa.Column("imported_at", sa.Double(), nullable=False),
        sa.Column("removed_at", sa.Double(), nullable=True),
        sa.Column("removed_reason", sa.Text(), nullable=True),
        sa.Column("judge_name", sa.Text(), nullable=True),
        sa.Column("reported_by", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(substr(url, 1, 8) = 'https://' OR substr(url, 1, 7) = 'http://') AND length(url) <= 2000",
            name=op.f("ck_reported_results_url"),
        ),
        sa.CheckConstraint(
            "judge_type IN ('generative-pairwise', 'generative-pointwise', 'scalar', 'critic', 'policy-as-judge')",
            name=op.f("ck_reported_results_judge_type"),
        ),
        sa.CheckConstraint(
            "reported_by IN ('authors', 'benchmark', 'others')", name=op.f("ck_reported_results_reported_by")
        ),
        sa.CheckConstraint("substr(id, 1, 2) = 'r-' AND length(id) <= 80", name=op.f("ck_reported_results_id")),
        sa.CheckConstraint("(removed_at IS NULL) = (removed_reason IS NULL)", name=op.f("ck_reported_results_removed")),
        sa.CheckConstraint("length(benchmark) BETWEEN 1 AND 64", name=op.f("ck_reported_results_benchmark")),
        sa.CheckConstraint("length(judge_name) <= 200", name=op.f("ck_reported_results_judge_name")),
        sa.CheckConstraint("length(trim(name)) > 0 AND length(name) <= 200", name=op.f("ck_reported_results_name")),
        sa.CheckConstraint(
            "length(trim(source)) > 0 AND length(source) <= 300", name=op.f("ck_reported_results_source")
        ),
        sa.CheckConstraint(
            "parameters_b > 0 AND parameters_b <= 1000000", name=op.f("ck_reported_results_parameters_b")
        ),
        sa.CheckConstraint("votes_per_item BETWEEN 1 AND 16", name=op.f("ck_reported_results_votes_per_item")),
        sa.PrimaryKeyConstraint("benchmark", "id", name=op.f("pk_reported_results")),
    )


def _create_snapshots() -> None:
    op.create_table(
        "snapshots",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("through_seq", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("content_sha256", sa.Text(), nullable=True),
        sa.CheckConstraint("length(body) > 0", name=op.f("ck_snapshots_body")),
        sa.CheckConstraint("length(id) = 64 AND id = lower(id)", name=op.f("ck_snapshots_id")),
        sa.CheckConstraint("through_seq >= 0", name=op.f("ck_snapshots_through_seq")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
        sa.UniqueConstraint("benchmark", "id", name=op.f("uq_snapshots_benchmark_id")),
    )
    op.create_index("ix_snapshots_benchmark_created_at", "snapshots", ["benchmark", "created_at"], unique=False)


def _create_stated_levels() -> None:
    op.create_table(
        "stated_levels",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("measured", sa.JSON(), server_default="{}", nullable=False),
        sa.CheckConstraint("level IN ('public', 'hidden:categories', 'hidden')", name=op.f("ck_stated_levels_level")),
        sa.PrimaryKeyConstraint("benchmark", "revision", name=op.f("pk_stated_levels")),
    )


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        *_submission_columns(),
        *_submission_checks(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sa.UniqueConstraint("benchmark", "id", name=op.f("uq_submissions_benchmark_id")),
        sa.UniqueConstraint(
            "benchmark", "owner", "content_sha256", name=op.f("uq_submissions_benchmark_owner_content_sha256")
        ),
        sa.UniqueConstraint(
            "benchmark", "owner", "model", "version", name=op.f("uq_submissions_benchmark_owner_model_version")
        ),
    )


def _submission_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("content_sha256", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("votes_per_item", sa.Integer(), nullable=False),
        sa.Column("votes", sa.LargeBinary(), nullable=False),
        sa.Column("parse_rate", sa.Double(), nullable=False),
        sa.Column("first_shown_rate", sa.Double(), nullable=True),
        sa.Column("self_consistency", sa.Double(), nullable=True),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("organisation", sa.Text(), nullable=True),
        sa.Column("judge_type", sa.Text(), nullable=True),
        sa.Column("base_model", sa.Text(), nullable=True),
        sa.Column("parameters_b", sa.Double(), nullable=True),
        sa.Column("open_weights", sa.Boolean(create_constraint=True, name="open_weights"), nullable=True),
        sa.Column("link", sa.Text(), nullable=True),
        sa.Column("paper", sa.Text(), nullable=True),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("hub_id", sa.Text(), nullable=True),
        sa.Column("temperature", sa.Double(), nullable=True),
        sa.Column("prompt", sa.Text(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.Column("judge", sa.Text(), nullable=True),
        sa.Column("tokens_in", sa.BigInteger(), nullable=True),
        sa.Column("tokens_out", sa.BigInteger(), nullable=True),
        sa.Column("price_usd", sa.Double(), nullable=True),
        sa.Column("wall_seconds", sa.Double(), nullable=True),
        sa.Column("hardware", sa.Text(), nullable=True),
    ]


def _submission_checks() -> list[sa.CheckConstraint]:
    return [
        sa.CheckConstraint(
            "judge_type IN ('generative-pairwise', 'generative-pointwise', 'scalar', 'critic', 'policy-as-judge')",
            name=op.f("ck_submissions_judge_type"),
        ),
        sa.CheckConstraint(
            "length(id) = 12 AND substr(id, 1, 1) = 'e' AND id = lower(id)", name=op.f("ck_submissions_id")
        ),
        sa.CheckConstraint(
            "first_shown_rate >= 0 AND first_shown_rate <= 1", name=op.f("ck_submissions_first_shown_rate")
        ),
        sa.CheckConstraint("length(base_model) <= 200", name=op.f("ck_submissions_base_model")),
        sa.CheckConstraint("length(benchmark) BETWEEN 1 AND 64", name=op.f("ck_submissions_benchmark")),
        sa.CheckConstraint("length(code) <= 2000", name=op.f("ck_submissions_code")),
        sa.CheckConstraint(
            "length(content_sha256) = 64 AND content_sha256 = lower(content_sha256)",
            name=op.f("ck_submissions_content_sha256"),
        ),
        sa.CheckConstraint("length(file_name) <= 200", name=op.f("ck_submissions_file_name")),
        sa.CheckConstraint("length(format) BETWEEN 1 AND 64", name=op.f("ck_submissions_format")),
        sa.CheckConstraint("length(hub_id) <= 200", name=op.f("ck_submissions_hub_id")),
        sa.CheckConstraint("length(judge) <= 200", name=op.f("ck_submissions_judge")),
        sa.CheckConstraint("length(link) <= 2000", name=op.f("ck_submissions_link")),
        sa.CheckConstraint("length(notes) <= 20000", name=op.f("ck_submissions_notes")),
        sa.CheckConstraint("length(organisation) <= 200", name=op.f("ck_submissions_organisation")),
        sa.CheckConstraint("length(owner) BETWEEN 1 AND 200", name=op.f("ck_submissions_owner")),
        sa.CheckConstraint("length(paper) <= 2000", name=op.f("ck_submissions_paper")),
        sa.CheckConstraint("length(prompt) <= 20000", name=op.f("ck_submissions_prompt")),
        sa.CheckConstraint("length(revision) BETWEEN 1 AND 64", name=op.f("ck_submissions_revision")),
        sa.CheckConstraint("length(trim(model)) > 0 AND length(model) <= 200", name=op.f("ck_submissions_model")),
        sa.CheckConstraint("length(version) <= 200", name=op.f("ck_submissions_version")),
        sa.CheckConstraint("length(votes) > 0", name=op.f("ck_submissions_votes")),
        sa.CheckConstraint("parameters_b > 0 AND parameters_b <= 1000000", name=op.f("ck_submissions_parameters_b")),
        sa.CheckConstraint("parse_rate >= 0 AND parse_rate <= 1", name=op.f("ck_submissions_parse_rate")),
        sa.CheckConstraint(
            "self_consistency >= 0 AND self_consistency <= 1", name=op.f("ck_submissions_self_consistency")
        ),
        sa.CheckConstraint("size_bytes > 0", name=op.f("ck_submissions_size_bytes")),
        sa.CheckConstraint("temperature >= 0 AND temperature <= 100", name=op.f("ck_submissions_temperature")),
        sa.CheckConstraint("length(hardware) <= 200", name=op.f("ck_submissions_hardware")),
        sa.CheckConstraint("price_usd >= 0 AND price_usd <= 1000000000", name=op.f("ck_submissions_price_usd")),
        sa.CheckConstraint("tokens_in >= 0 AND tokens_in <= 1000000000000000", name=op.f("ck_submissions_tokens_in")),
        sa.CheckConstraint(
            "tokens_out >= 0 AND tokens_out <= 1000000000000000", name=op.f("ck_submissions_tokens_out")
        ),
        sa.CheckConstraint(
            "wall_seconds >= 0 AND wall_seconds <= 1000000000", name=op.f("ck_submissions_wall_seconds")
        ),
        sa.CheckConstraint("votes_per_item BETWEEN 1 AND 16", name=op.f("ck_submissions_votes_per_item")),
    ]


def _create_switches() -> None:
    op.create_table(
        "switches",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.CheckConstraint("length(message) BETWEEN 1 AND 500", name=op.f("ck_switches_message")),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 64", name=op.f("ck_switches_name")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_switches")),
    )


def _create_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("progress", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("parent_id", sa.Integer(), nullable=True),
        sa.Column("scorer_version", sa.Text(), nullable=True),
        sa.CheckConstraint("(state = 'done') = (result IS NOT NULL)", name=op.f("ck_tasks_result")),
        sa.CheckConstraint("(state = 'running') = (lease_until IS NOT NULL)", name=op.f("ck_tasks_lease")),
        sa.CheckConstraint("(state IN ('done', 'failed')) = (finished_at IS NOT NULL)", name=op.f("ck_tasks_finished")),
        sa.CheckConstraint("state <> 'failed' OR length(outcome) > 0", name=op.f("ck_tasks_explained")),
        sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed')", name=op.f("ck_tasks_state")),
        sa.CheckConstraint("attempts >= 0 AND epoch >= attempts AND progress >= 0", name=op.f("ck_tasks_counters")),
        sa.CheckConstraint("length(benchmark) <= 64", name=op.f("ck_tasks_benchmark")),
        sa.CheckConstraint("length(kind) BETWEEN 1 AND 64", name=op.f("ck_tasks_kind")),
        sa.CheckConstraint("length(subject) BETWEEN 1 AND 64", name=op.f("ck_tasks_subject")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    op.create_index("ix_tasks_parent_id", "tasks", ["parent_id"], unique=False)
    op.create_index(
        "uq_tasks_open",
        "tasks",
        ["benchmark", "kind", "subject"],
        unique=True,
        sqlite_where=sa.text("state IN ('queued', 'running')"),
        postgresql_where=sa.text("state IN ('queued', 'running')"),
    )
    op.create_index(
        "uq_tasks_open_apply",
        "tasks",
        ["benchmark", "kind"],
        unique=True,
        sqlite_where=sa.text("kind = 'rescore.apply' AND state IN ('queued', 'running')"),
        postgresql_where=sa.text("kind = 'rescore.apply' AND state IN ('queued', 'running')"),
    )


def _create_verification_projects() -> None:
    op.create_table(
        "verification_projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("base_revision", sa.Text(), nullable=False),
        sa.Column("answers_wanted", sa.Integer(), nullable=False),
        sa.Column("guidelines", sa.Text(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("closed_by", sa.Text(), nullable=True),
        sa.Column("closed_at", sa.Double(), nullable=True),
        sa.CheckConstraint("(closed_at IS NULL) = (closed_by IS NULL)", name=op.f("ck_verification_projects_closed")),
        sa.CheckConstraint("answers_wanted BETWEEN 1 AND 100", name=op.f("ck_verification_projects_answers_wanted")),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 64", name=op.f("ck_verification_projects_name")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verification_projects")),
        sa.UniqueConstraint("benchmark", "name", name=op.f("uq_verification_projects_benchmark_name")),
    )


def _create_workers() -> None:
    op.create_table(
        "workers",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("heartbeat_at", sa.Double(), nullable=False),
        sa.Column("scorer_version", sa.Text(), server_default="", nullable=False),
        sa.Column("label_revisions", sa.JSON(none_as_null=True), nullable=True),
        sa.CheckConstraint("heartbeat_at >= started_at", name=op.f("ck_workers_order")),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 200", name=op.f("ck_workers_name")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )


def _create_api_tokens() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_sha256", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("last_used_at", sa.Double(), nullable=True),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "length(id) = 12 AND substr(id, 1, 1) = 't' AND id = lower(id)", name=op.f("ck_api_tokens_id")
        ),
        sa.CheckConstraint("scopes IN ('submit', 'maintain', 'maintain submit')", name=op.f("ck_api_tokens_scopes")),
        sa.CheckConstraint("expires_at > created_at", name=op.f("ck_api_tokens_order")),
        sa.CheckConstraint(
            "length(token_sha256) = 64 AND token_sha256 = lower(token_sha256)", name=op.f("ck_api_tokens_token_sha256")
        ),
        sa.CheckConstraint("length(trim(name)) > 0 AND length(name) <= 100", name=op.f("ck_api_tokens_name")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_api_tokens_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_api_tokens_token_sha256")),
    )
    op.create_index(
        "uq_api_tokens_name_in_use",
        "api_tokens",
        ["account_id", "name"],
        unique=True,
        sqlite_where=sa.text("revoked_at IS NULL"),
        postgresql_where=sa.text("revoked_at IS NULL"),
    )


def _create_approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.Double(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint("(state = 'waiting') = (decided_at IS NULL)", name=op.f("ck_approvals_decided")),
        sa.CheckConstraint("(state = 'waiting') = (decided_by IS NULL)", name=op.f("ck_approvals_by")),
        sa.CheckConstraint("(state = 'waiting') = (reason IS NULL)", name=op.f("ck_approvals_explained")),
        sa.CheckConstraint("state IN ('waiting', 'approved', 'rejected')", name=op.f("ck_approvals_state")),
        sa.CheckConstraint("length(reason) BETWEEN 1 AND 500", name=op.f("ck_approvals_reason")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_approvals_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_approvals")),
    )
    op.create_index(
        "ix_approvals_waiting",
        "approvals",
        ["submission_id"],
        unique=False,
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )


def _create_attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("policy", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(label_revision) BETWEEN 1 AND 64", name=op.f("ck_attempts_label_revision")),
        sa.CheckConstraint("number > 0", name=op.f("ck_attempts_number")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_attempts_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_attempts")),
    )


def _create_board() -> None:
    op.create_table(
        "board",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("scorer_version", sa.Text(), nullable=False),
        sa.Column("snapshot_id", sa.Text(), nullable=True),
        sa.Column("shown_seq", sa.Integer(), server_default="0", nullable=False),
        sa.Column("related_seq", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark", "label_revision"],
            ["label_sets.benchmark", "label_sets.revision"],
            name=op.f("fk_board_benchmark_label_revision"),
        ),
        sa.ForeignKeyConstraint(
            ["benchmark", "snapshot_id"],
            ["snapshots.benchmark", "snapshots.id"],
            name=op.f("fk_board_benchmark_snapshot_id"),
        ),
        sa.PrimaryKeyConstraint("benchmark", name=op.f("pk_board")),
    )


def _create_edits() -> None:
    op.create_table(
        "edits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("editor", sa.Text(), nullable=False),
        sa.Column("was", sa.JSON(), nullable=False),
        sa.Column("became", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(editor) BETWEEN 1 AND 200", name=op.f("ck_edits_editor")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_edits_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_edits")),
    )
    op.create_index("ix_edits_submission_id", "edits", ["submission_id"], unique=False)


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("scorer_version", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.CheckConstraint("(state = 'running') = (lease_until IS NOT NULL)", name=op.f("ck_jobs_lease")),
        sa.CheckConstraint("(state IN ('done', 'failed')) = (finished_at IS NOT NULL)", name=op.f("ck_jobs_finished")),
        sa.CheckConstraint("state <> 'failed' OR length(reason) > 0", name=op.f("ck_jobs_explained")),
        sa.CheckConstraint(
            "state <> 'running' OR (worker IS NOT NULL AND started_at IS NOT NULL AND epoch > 0)",
            name=op.f("ck_jobs_holder"),
        ),
        sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed')", name=op.f("ck_jobs_state")),
        sa.CheckConstraint("attempts >= 0 AND epoch >= attempts", name=op.f("ck_jobs_counters")),
        sa.CheckConstraint("priority IN (0, 1)", name=op.f("ck_jobs_priority")),
        sa.ForeignKeyConstraint(
            ["benchmark", "label_revision"],
            ["label_sets.benchmark", "label_sets.revision"],
            name=op.f("fk_jobs_benchmark_label_revision"),
        ),
        sa.ForeignKeyConstraint(
            ["benchmark", "submission_id"],
            ["submissions.benchmark", "submissions.id"],
            name=op.f("fk_jobs_benchmark_submission_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint(
            "submission_id",
            "label_revision",
            "scorer_version",
            name=op.f("uq_jobs_submission_id_label_revision_scorer_version"),
        ),
    )
    op.create_index(
        "ix_jobs_leases",
        "jobs",
        ["lease_until"],
        unique=False,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_index(
        "ix_jobs_waiting",
        "jobs",
        ["priority", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )


def _create_label_commitments() -> None:
    op.create_table(
        "label_commitments",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=False),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "length(commitment) = 64 AND commitment = lower(commitment)", name=op.f("ck_label_commitments_commitment")
        ),
        sa.CheckConstraint("length(salt) = 64 AND salt = lower(salt)", name=op.f("ck_label_commitments_salt")),
        sa.ForeignKeyConstraint(
            ["benchmark", "revision"],
            ["label_sets.benchmark", "label_sets.revision"],
            name=op.f("fk_label_commitments_benchmark_revision"),
        ),
        sa.PrimaryKeyConstraint("benchmark", "revision", name=op.f("pk_label_commitments")),
    )


def _create_moderation() -> None:
    op.create_table(
        "moderation",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("hidden_at", sa.Double(), nullable=True),
        sa.Column("withdrawn_at", sa.Double(), nullable=True),
        sa.Column("withdrawn_reason", sa.Text(), nullable=True),
        sa.Column("verified_at", sa.Double(), nullable=True),
        sa.Column("flag", sa.Text(), nullable=True),
        sa.Column("merged_into", sa.Text(), nullable=True),
        sa.Column("merged_at", sa.Double(), nullable=True),
        sa.CheckConstraint("(merged_at IS NULL) = (merged_into IS NULL)", name=op.f("ck_moderation_merged")),
        sa.CheckConstraint("(withdrawn_at IS NULL) = (withdrawn_reason IS NULL)", name=op.f("ck_moderation_withdrawn")),
        sa.CheckConstraint("length(flag) BETWEEN 1 AND 500", name=op.f("ck_moderation_flag")),
        sa.CheckConstraint("length(withdrawn_reason) BETWEEN 1 AND 500", name=op.f("ck_moderation_withdrawn_reason")),
        sa.CheckConstraint("merged_into <> submission_id", name=op.f("ck_moderation_merged_into")),
        sa.ForeignKeyConstraint(["merged_into"], ["submissions.id"], name=op.f("fk_moderation_merged_into")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_moderation_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_moderation")),
    )
    op.create_index("ix_moderation_merged_into", "moderation", ["merged_into"], unique=False)


def _create_relations() -> None:
    op.create_table(
        "relations",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("inputs", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.CheckConstraint("substr(summary, 1, 1) = '{'", name=op.f("ck_relations_summary")),
        sa.CheckConstraint("length(body) > 0", name=op.f("ck_relations_body")),
        sa.CheckConstraint("length(id) = 64 AND id = lower(id)", name=op.f("ck_relations_id")),
        sa.CheckConstraint("length(inputs) = 64 AND inputs = lower(inputs)", name=op.f("ck_relations_inputs")),
        sa.ForeignKeyConstraint(
            ["benchmark", "label_revision"],
            ["label_sets.benchmark", "label_sets.revision"],
            name=op.f("fk_relations_benchmark_label_revision"),
        ),
        sa.PrimaryKeyConstraint("benchmark", "inputs", name=op.f("pk_relations")),
    )
    op.create_index("ix_relations_id", "relations", ["id"], unique=False)


def _create_role_names() -> None:
    op.create_table(
        "role_names",
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("bound_at", sa.Double(), nullable=False),
        sa.CheckConstraint("length(issuer) BETWEEN 1 AND 500", name=op.f("ck_role_names_issuer")),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 200", name=op.f("ck_role_names_name")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_role_names_account_id")),
        sa.PrimaryKeyConstraint("issuer", "name", name=op.f("pk_role_names")),
    )
    op.create_index("ix_role_names_account_id", "role_names", ["account_id"], unique=False)


def _create_scores() -> None:
    op.create_table(
        "scores",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("label_revision", sa.Text(), nullable=False),
        sa.Column("scorer_version", sa.Text(), nullable=False),
        sa.Column("tally", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.CheckConstraint("substr(tally, 1, 1) = '{'", name=op.f("ck_scores_tally")),
        sa.CheckConstraint("length(scorer_version) BETWEEN 1 AND 64", name=op.f("ck_scores_scorer_version")),
        sa.ForeignKeyConstraint(
            ["benchmark", "label_revision"],
            ["label_sets.benchmark", "label_sets.revision"],
            name=op.f("fk_scores_benchmark_label_revision"),
        ),
        sa.ForeignKeyConstraint(
            ["benchmark", "submission_id"],
            ["submissions.benchmark", "submissions.id"],
            name=op.f("fk_scores_benchmark_submission_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scores")),
        sa.UniqueConstraint(
            "submission_id",
            "label_revision",
            "scorer_version",
            name=op.f("uq_scores_submission_id_label_revision_scorer_version"),
        ),
    )
    op.create_index("ix_scores_board", "scores", ["benchmark", "label_revision", "scorer_version"], unique=False)


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id_sha256", sa.Text(), nullable=False),
        sa.Column("sign_in_sha256", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("last_seen_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.CheckConstraint("expires_at > created_at", name=op.f("ck_sessions_order")),
        sa.CheckConstraint(
            "length(id_sha256) = 64 AND id_sha256 = lower(id_sha256)", name=op.f("ck_sessions_id_sha256")
        ),
        sa.CheckConstraint(
            "length(sign_in_sha256) = 64 AND sign_in_sha256 = lower(sign_in_sha256)",
            name=op.f("ck_sessions_sign_in_sha256"),
        ),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_sessions_account_id")),
        sa.PrimaryKeyConstraint("id_sha256", name=op.f("pk_sessions")),
        sa.UniqueConstraint("sign_in_sha256", name=op.f("uq_sessions_sign_in_sha256")),
    )
    op.create_index("ix_sessions_account_id", "sessions", ["account_id"], unique=False)
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"], unique=False)


def _create_verification_annotators() -> None:
    op.create_table(
        "verification_annotators",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("left_out", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["verification_projects.id"], name=op.f("fk_verification_annotators_project_id")
        ),
        sa.PrimaryKeyConstraint("project_id", "account", name=op.f("pk_verification_annotators")),
    )


def _create_verification_items() -> None:
    op.create_table(
        "verification_items",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("gold", sa.Text(), nullable=True),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("text", sa.JSON(), nullable=True),
        sa.CheckConstraint(VERDICTS.replace("verdict", "gold"), name=op.f("ck_verification_items_gold")),
        sa.CheckConstraint(VERDICTS.replace("verdict", "decision"), name=op.f("ck_verification_items_decision")),
        sa.CheckConstraint("(decision IS NULL) = (decided_by IS NULL)", name=op.f("ck_verification_items_decided")),
        sa.CheckConstraint("place > 0", name=op.f("ck_verification_items_place")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["verification_projects.id"], name=op.f("fk_verification_items_project_id")
        ),
        sa.PrimaryKeyConstraint("project_id", "place", name=op.f("pk_verification_items")),
        sa.UniqueConstraint("project_id", "item", name=op.f("uq_verification_items_project_id_item")),
    )


def _create_visibility() -> None:
    op.create_table(
        "visibility",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("anonymous_until", sa.Double(), nullable=True),
        sa.Column("revealed_at", sa.Double(), nullable=True),
        sa.Column("held_back_at", sa.Double(), nullable=True),
        sa.Column("published_at", sa.Double(), nullable=True),
        sa.CheckConstraint("published_at IS NULL OR held_back_at IS NOT NULL", name=op.f("ck_visibility_published")),
        sa.CheckConstraint("revealed_at IS NULL OR anonymous_until IS NOT NULL", name=op.f("ck_visibility_revealed")),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_visibility_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_visibility")),
    )
    op.create_index(
        "ix_visibility_anonymous_until",
        "visibility",
        ["anonymous_until"],
        unique=False,
        sqlite_where=sa.text("anonymous_until IS NOT NULL AND revealed_at IS NULL"),
        postgresql_where=sa.text("anonymous_until IS NOT NULL AND revealed_at IS NULL"),
    )


def _create_charges() -> None:
    op.create_table(
        "charges",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["subject"], ["quota_subjects.subject"], name=op.f("fk_charges_subject")),
        sa.ForeignKeyConstraint(["submission_id"], ["attempts.submission_id"], name=op.f("fk_charges_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", "subject", name=op.f("pk_charges")),
    )
    op.create_index("ix_charges_subject", "charges", ["subject"], unique=False)


def _create_quota_grant_uses() -> None:
    op.create_table(
        "quota_grant_uses",
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("grant_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["grant_id"], ["quota_grants.id"], name=op.f("fk_quota_grant_uses_grant_id")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["attempts.submission_id"], name=op.f("fk_quota_grant_uses_submission_id")
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_quota_grant_uses")),
    )
    op.create_index(op.f("ix_quota_grant_uses_grant_id"), "quota_grant_uses", ["grant_id"], unique=False)


def _create_verification_answers() -> None:
    op.create_table(
        "verification_answers",
        sa.Column("project_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("answered_at", sa.Double(), nullable=False),
        sa.Column("models_seen_at", sa.Double(), nullable=True),
        sa.CheckConstraint(VERDICTS, name=op.f("ck_verification_answers_verdict")),
        sa.CheckConstraint("length(note) <= 500", name=op.f("ck_verification_answers_note")),
        sa.ForeignKeyConstraint(
            ["project_id", "account"],
            ["verification_annotators.project_id", "verification_annotators.account"],
            name=op.f("fk_verification_answers_project_id_account"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "item"],
            ["verification_items.project_id", "verification_items.item"],
            name=op.f("fk_verification_answers_project_id_item"),
        ),
        sa.PrimaryKeyConstraint("project_id", "account", "item", name=op.f("pk_verification_answers")),
    )


TABLES = {
    "accounts": _create_accounts,
    "audit_head": _create_audit_head,
    "auth_failures": _create_auth_failures,
    "backups": _create_backups,
    "disputes": _create_disputes,
    "event_subjects": _create_event_subjects,
    "events": _create_events,
    "imported_labels": _create_imported_labels,
    "label_candidates": _create_label_candidates,
    "label_sets": _create_label_sets,
    "quota_grants": _create_quota_grants,
    "quota_subjects": _create_quota_subjects,
    "reported_results": _create_reported_results,
    "snapshots": _create_snapshots,
    "stated_levels": _create_stated_levels,
    "submissions": _create_submissions,
    "switches": _create_switches,
    "tasks": _create_tasks,
    "verification_projects": _create_verification_projects,
    "workers": _create_workers,
    "api_tokens": _create_api_tokens,
    "approvals": _create_approvals,
    "attempts": _create_attempts,
    "board": _create_board,
    "edits": _create_edits,
    "jobs": _create_jobs,
    "label_commitments": _create_label_commitments,
    "moderation": _create_moderation,
    "relations": _create_relations,
    "role_names": _create_role_names,
    "scores": _create_scores,
    "sessions": _create_sessions,
    "verification_annotators": _create_verification_annotators,
    "verification_items": _create_verification_items,
    "visibility": _create_visibility,
    "charges": _create_charges,
    "quota_grant_uses": _create_quota_grant_uses,
    "verification_answers": _create_verification_answers,
}
"""In the order of their foreign keys."""
