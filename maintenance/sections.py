"""Sections of the maintain page: which lists each has, and which areas of actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vlrb.label_quality.annotation import GOLD_MINIMUM


class Section(NamedTuple):
    """A section. `lists`: actions whose results it shows; `areas`: whose actions stand at rows, else in forms.

    `cases`: what its number counts; `new`: actions that stand in a form though a row has their parameter.
    """

    id: str
    title: str
    lists: Sequence[str]
    areas: Sequence[str]
    lead: str = ""
    cases: str = ""
    new: Sequence[str] = ()


SECTIONS = (
    Section(
        "health",
        "Health",
        ("service.health",),
        ("service", "jobs", "tasks"),
        cases="failures",
    ),
    Section(
        "approvals",
        "Approvals",
        ("approvals.list",),
        ("approvals",),
        "The first submission of every account waits here where APPROVE_FIRST_UPLOAD is set, and every file with votes "
        "that need no judge. Until it is approved no label is touched. Its owner reads the reason of a rejection. An "
        "entry with votes that need no judge has no rank until you mark it as verified.",
        cases="approvals",
    ),
    Section("entries", "Entries", ("entries.list",), ("entries",)),
    Section(
        "reported",
        "Reported",
        ("reported.list",),
        ("reported",),
        "A CSV file, one row a result: name, url of the source and percentages. All rows are taken or none. "
        "They are listed beside those that come with the service; what is there with the same numbers is left alone.",
    ),
    Section(
        "accounts",
        "Accounts",
        ("accounts.list",),
        ("accounts",),
        "A banned account cannot sign in, and its tokens stop working; its entries stay.",
    ),
    Section(
        "labels",
        "Labels",
        ("labels.list",),
        ("labels", "rescore"),
        "Preview a revision before you apply it. Retiring reveals the salt of a revision's commitment, so that "
        "everybody who has the labels can check it. That cannot be taken back, and the revision can never be previewed "
        "or applied again. Disclosing makes a revision public for good.",
        new=("labels.import",),
    ),
    Section(
        "tasks",
        "Tasks",
        ("tasks.list",),
        ("tasks",),
        "What maintainers asked of the workers lately. A preview is shown as it was when it was made.",
    ),
    Section(
        "log",
        "Audit chain",
        (),
        ("audit",),
        "A chain alone does not show that its end was cut off: keep its head elsewhere, and later check the chain "
        "against it. The public chain at /api/v1/chain is what receipts and heads are checked with elsewhere.",
    ),
    Section(
        "disputes",
        "Disputes",
        ("disputes.list",),
        ("disputes",),
        "Somebody says that a label is wrong. A and B are the responses as the pair's page shows them, which also says "
        "how many judges are right. Accepted disputes make a draft when you ask for one; its preview is the board as "
        "it would be.",
        cases="disputes",
    ),
    Section(
        "verification",
        "Verification",
        ("verification.list",),
        ("verification",),
        "People answer at /annotate without seeing the label. A pair takes so many answers, and one more where these "
        "have no majority. “Show” lists what closing would write. Labels in a file of "
        f"pairs make gold pairs. An annotator with fewer than {100 * GOLD_MINIMUM:.0f}% of them right keeps a project "
        "open until you leave the answers out.",
        cases="projects",
    ),
)
