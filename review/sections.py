"""Sections of the maintain page about disputes and annotation projects."""

from __future__ import annotations

from maintenance.page.sections import Section
from vlrb.label_quality.annotation import GOLD_MINIMUM

SECTIONS = (
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
