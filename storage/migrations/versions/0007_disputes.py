"""Opinions about single pairs: disputes, candidate label errors, verification by hand."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TABLES = (
    "disputes",
    "label_candidates",
    "verification_projects",
    "verification_items",
    "verification_annotators",
    "verification_answers",
)


def upgrade() -> None:
    _create_disputes()
    _create_candidates()
    _create_projects()
    _create_items_and_annotators()
    _create_answers()


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


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
        sa.CheckConstraint("length(item) BETWEEN 1 AND 70", name=op.f("ck_disputes_item")),
        sa.CheckConstraint("length(account) BETWEEN 1 AND 200", name=op.f("ck_disputes_account")),
        sa.CheckConstraint("better IN ('a', 'b', 'equal', 'both-wrong', 'bad-item')", name=op.f("ck_disputes_better")),
        sa.CheckConstraint(
            "tag IN ('existence', 'recognition', 'attribute', 'counting', 'other')", name=op.f("ck_disputes_tag")
        ),
        sa.CheckConstraint("length(reason) BETWEEN 20 AND 2000", name=op.f("ck_disputes_reason")),
        sa.CheckConstraint("state IN ('open', 'accepted', 'rejected')", name=op.f("ck_disputes_state")),
        sa.CheckConstraint("length(note) BETWEEN 1 AND 500", name=op.f("ck_disputes_note")),
        sa.CheckConstraint(
            "(state = 'open') = (decided_at IS NULL) AND (state = 'open') = (decided_by IS NULL) "
            "AND (state = 'open') = (note IS NULL)",
            name=op.f("ck_disputes_decided"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_disputes")),
    )
    op.create_index(
        "uq_disputes_open",
        "disputes",
        ["benchmark", "item", "account"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_index("ix_disputes_account", "disputes", ["account"], unique=False)


def _create_candidates() -> None:
    op.create_table(
        "label_candidates",
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("benchmark", "place", name=op.f("pk_label_candidates")),
        sa.UniqueConstraint("benchmark", "item", name=op.f("uq_label_candidates_benchmark_item")),
    )


def _create_projects() -> None:
    op.create_table(
        "verification_projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("base_revision", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("closed_by", sa.Text(), nullable=True),
        sa.Column("closed_at", sa.Double(), nullable=True),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 64", name=op.f("ck_verification_projects_name")),
        sa.CheckConstraint("(closed_at IS NULL) = (closed_by IS NULL)", name=op.f("ck_verification_projects_closed")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verification_projects")),
        sa.UniqueConstraint("benchmark", "name", name=op.f("uq_verification_projects_benchmark_name")),
    )


def _create_items_and_annotators() -> None:
    project = ["verification_projects.id"]
    op.create_table(
        "verification_items",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.CheckConstraint("place > 0", name=op.f("ck_verification_items_place")),
        sa.ForeignKeyConstraint(["project_id"], project, name=op.f("fk_verification_items_project_id")),
        sa.PrimaryKeyConstraint("project_id", "place", name=op.f("pk_verification_items")),
        sa.UniqueConstraint("project_id", "item", name=op.f("uq_verification_items_project_id_item")),
    )
    op.create_table(
        "verification_annotators",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], project, name=op.f("fk_verification_annotators_project_id")),
        sa.PrimaryKeyConstraint("project_id", "account", name=op.f("pk_verification_annotators")),
    )


def _create_answers() -> None:
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
        sa.CheckConstraint(
            "verdict IN ('a', 'b', 'both-false', 'vague-style', 'vague-knowledge', 'poor-image', 'other')",
            name=op.f("ck_verification_answers_verdict"),
        ),
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
