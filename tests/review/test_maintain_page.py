"""Reviews on the maintain page: the use cases, and what they show is text."""

from __future__ import annotations

from maintenance.actions import tasks
from review.actions import answers, disputes
from review.actions.answers import GivenAnswer
from tests.factories.accounts import MAINTAINER
from tests.factories.maintain_page import MaintainVisitor
from tests.factories.review_setup import HOSTILE, ReviewSetup

WHY = f"The preferred response invents a second dog. {HOSTILE}"


def test_disputes_and_projects_are_worked_on_the_page_and_shown_as_text(bench: ReviewSetup) -> None:
    disputes.dispute(bench.by(MAINTAINER), bench.key(0), better="a", reason=WHY)
    page = MaintainVisitor(bench.by(MAINTAINER))
    shown = page.look("disputes")
    assert HOSTILE not in shown and "&lt;img" in shown
    assert "is accepted" in page.act("disputes.accept", ["1"], note="you are right")
    assert "Nothing is disputed" in page.look("disputes") and "accepted" in page.look("disputes", state="accepted")
    assert "its number" in page.act("disputes.accept", ["one"], note="x")
    draft = {"revision": "next", "base": "demo", "reason": "because", "disclosure": "public"}
    assert "waits for a worker" in page.act("disputes.draft", **draft)
    assert tasks.recent_tasks(bench.by(MAINTAINER))[0].params["disclosure"] == "public"
    start = {"name": "may", "base": "demo", "reason": "x", "file": bench.file_of(0, 4)}
    assert "has 2 pairs" in page.act("verification.start", **start)
    assert "no account" in page.act("verification.annotators", ["1"], annotators="nobody")
    assert "1 more may answer" in page.act("verification.annotators", ["1"], annotators="local")
    assert "local 0" in page.look("verification")
    close = {"revision": "more", "reason": "x"}
    assert "Nobody has answered" in page.act("verification.close", ["1"], **close)
    answers.answer(bench.by(MAINTAINER), 1, place=1, given_answer=GivenAnswer("first"))
    assert "WildVision-" in page.show("verification", "verification.decisions", "1")
    assert "waits for a worker" in page.act("verification.close", ["1"], **close)
