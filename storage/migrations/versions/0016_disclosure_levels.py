"""Three disclosure levels of imported labels, drafts that can be discarded, and hidden sets that are weakly hidden."""

import sqlalchemy as sa
from alembic import op

from storage.migrations.triggers import (
    ImmutableRule,
    create_replace_trigger,
    create_trigger,
    drop_replace_trigger,
    drop_trigger,
)

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

TABLE = "imported_labels"
SET_ONCE = ImmutableRule(TABLE, "UPDATE", ("retired_at", "salt"), "OLD.retired_at IS NOT NULL", "other_salt")
WRITTEN_ONCE = (
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
)
BEFORE = (
    ImmutableRule(TABLE, "UPDATE", (*WRITTEN_ONCE[:2], "disclosure", *WRITTEN_ONCE[2:])),
    ImmutableRule(TABLE, "DELETE"),
    ImmutableRule(TABLE, "TRUNCATE"),
    SET_ONCE,
)
AFTER = (
    ImmutableRule(TABLE, "UPDATE", WRITTEN_ONCE),
    # Labels that are not public may become so, and nothing else.
    ImmutableRule(
        TABLE, "UPDATE", ("disclosure",), "OLD.disclosure = 'public' OR NEW.disclosure <> 'public'", "other_level"
    ),
    # A draft may be discarded, unless something was ever scored under it: then it is registered, see below.
    ImmutableRule(TABLE, "DELETE", (), "OLD.published_at IS NOT NULL OR OLD.retired_at IS NOT NULL", "applied"),
    ImmutableRule(TABLE, "TRUNCATE"),
    SET_ONCE,
)
KEY = ("revision",)
REGISTERED = f"{TABLE}_no_registered"


def upgrade() -> None:
    _forget(BEFORE)
    _change_levels("'public', 'categories', 'overall'", {"hidden": "categories"})
    for one in AFTER:
        create_trigger(one)
    _refuse_registered()
    create_replace_trigger(TABLE, KEY)
    _create_tables()


def downgrade() -> None:
    op.drop_table("weak_hiding")
    op.drop_table("stated_levels")
    _allow_registered()
    _forget(AFTER)
    _change_levels("'public', 'hidden'", {"categories": "hidden", "overall": "hidden"})
    for one in BEFORE:
        create_trigger(one)
    create_replace_trigger(TABLE, KEY)


def _create_tables() -> None:
    op.create_table(
        "stated_levels",
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.CheckConstraint("level IN ('public', 'categories', 'overall')", name=op.f("ck_stated_levels_level")),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_stated_levels")),
    )
    op.create_table(
        "weak_hiding",
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("against", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("submissions", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.Boolean(), nullable=False),
        sa.Column("noted_at", sa.Double(), nullable=False),
        sa.CheckConstraint("submissions > 0", name=op.f("ck_weak_hiding_submissions")),
        sa.CheckConstraint("revision <> against", name=op.f("ck_weak_hiding_against")),
        sa.PrimaryKeyConstraint("revision", "against", name=op.f("pk_weak_hiding")),
    )


def _forget(refusals: tuple[ImmutableRule, ...]) -> None:
    for one in refusals:
        drop_trigger(one)
    drop_replace_trigger(TABLE)


def _change_levels(levels: str, renamed: dict[str, str]) -> None:
    """SQLite changes no constraint of a table, so there the rows move to another one."""
    rule = f"disclosure IN ({levels})"
    name = op.f(f"ck_{TABLE}_disclosure")
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint(name, TABLE, type_="check")
        _rename(renamed)
        op.create_check_constraint(name, TABLE, rule)
        return
    other = f"{TABLE}_moved"
    _create_imported_labels(other, rule)
    new = "CASE disclosure " + " ".join(f"WHEN '{old}' THEN '{level}'" for old, level in renamed.items())
    columns = ", ".join(column for column in COLUMNS if column != "disclosure")
    op.execute(
        f"INSERT INTO {other} (disclosure, {columns}) "  # noqa: S608 - names that stand here
        f"SELECT {new} ELSE disclosure END, {columns} FROM {TABLE}"
    )
    op.drop_table(TABLE)
    op.rename_table(other, TABLE)


def _rename(renamed: dict[str, str]) -> None:
    for old, level in renamed.items():
        op.execute(f"UPDATE {TABLE} SET disclosure = '{level}' WHERE disclosure = '{old}'")  # noqa: S608 - as above


COLUMNS = (*WRITTEN_ONCE, "disclosure", "published_at", "retired_at", "salt")


def _create_imported_labels(table: str, levels: str) -> None:
    """As the fourth migration made it, but for the levels."""
    op.create_table(
        table,
        sa.Column("revision", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
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
        sa.CheckConstraint("(retired_at IS NULL) = (salt IS NULL)", name=op.f(f"ck_{TABLE}_retired")),
        sa.CheckConstraint(levels, name=op.f(f"ck_{TABLE}_disclosure")),
        sa.CheckConstraint("items > 0", name=op.f(f"ck_{TABLE}_items")),
        sa.CheckConstraint("length(benchmark) BETWEEN 1 AND 64", name=op.f(f"ck_{TABLE}_benchmark")),
        sa.CheckConstraint(
            "length(commitment) = 64 AND commitment = lower(commitment)", name=op.f(f"ck_{TABLE}_commitment")
        ),
        sa.CheckConstraint("length(digest) = 64 AND digest = lower(digest)", name=op.f(f"ck_{TABLE}_digest")),
        sa.CheckConstraint("length(revision) BETWEEN 1 AND 64", name=op.f(f"ck_{TABLE}_revision")),
        sa.CheckConstraint("length(salt) = 64 AND salt = lower(salt)", name=op.f(f"ck_{TABLE}_salt")),
        sa.PrimaryKeyConstraint("revision", name=op.f(f"pk_{TABLE}")),
    )


def _refuse_registered() -> None:
    """Of a revision that is registered scores were made, whatever became of it: it stays."""
    known = "EXISTS (SELECT 1 FROM label_sets WHERE label_sets.revision = OLD.revision)"
    if op.get_bind().dialect.name == "postgresql":  # whose triggers know no condition that looks elsewhere
        op.execute(
            f"CREATE FUNCTION {REGISTERED}() RETURNS trigger AS $$ BEGIN "
            f"IF {known} THEN RAISE EXCEPTION '{TABLE} may not be changed'; END IF; RETURN OLD; END $$ LANGUAGE plpgsql"
        )
        run = f"FOR EACH ROW EXECUTE FUNCTION {REGISTERED}()"
    else:
        run = f"WHEN {known} BEGIN SELECT RAISE(ABORT, '{TABLE} may not be changed'); END"
    op.execute(f"CREATE TRIGGER {REGISTERED} BEFORE DELETE ON {TABLE} {run}")


def _allow_registered() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"DROP TRIGGER {REGISTERED} ON {TABLE}")
        op.execute(f"DROP FUNCTION {REGISTERED}()")
    else:
        op.execute(f"DROP TRIGGER {REGISTERED}")
