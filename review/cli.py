"""Commands of disputes, label error candidates and annotation projects."""

from __future__ import annotations

import argparse
from typing import Any

from auth.settings import Mode
from benchmark.annotation import ERRORS, SAYINGS, UNUSABLE
from maintenance.cli import (
    CliContext,
    CliResult,
    Command,
    action_result,
    add_level,
    command,
    follow_task,
    group,
    level_of,
    numbered_rows,
)
from maintenance.types import Conflict, to_jsonable
from review import answers, candidates, disputes, projects, text_output
from review.answers import GivenAnswer


def add_commands(commands: Any) -> None:
    """Add them to an argparse subparsers object; each sets `command`."""
    _add_disputes(group(commands, "disputes", "labels that somebody disputes"))
    _add_candidates(group(commands, "candidates", "items whose label the strongest judges contradict"))
    _add_verification(group(commands, "verification", "labels that people verify by hand"))


def _add_disputes(commands: Any) -> None:
    add = command(commands, "open", "dispute a label", _open)
    add.add_argument("item", help="key or id")
    add.add_argument("--better", required=True, choices=SAYINGS, help="what is right; A and B as on the pair's page")
    add.add_argument("--tag", help="which kind of error the worse response makes")
    add.add_argument("--reason", required=True)
    listing = command(commands, "list", "disputes by item, with the judges' votes", _disputes)
    listing.add_argument("--state", action="append", choices=disputes.STATES, help="open if left out (repeatable)")
    for name, what, accepted in (("accept", "accept a dispute", True), ("reject", "reject a dispute", False)):
        decide = command(commands, name, what, _decide(accepted))
        decide.add_argument("dispute", type=numbered_rows)
        decide.add_argument("--note", required=True, help="to its author")
    draft = command(commands, "draft", "have a worker write a draft revision from accepted disputes", _draft)
    draft.add_argument("--dispute", action="append", type=numbered_rows, default=[], help="only this one (repeatable)")
    draft.add_argument("--base", required=True, help="the revision that is changed")
    _add_draft(draft)


def _add_candidates(commands: Any) -> None:
    find = command(
        commands,
        "find",
        "have a worker look for them",
        lambda c, o: follow_task(c, o, candidates.request(c.database, c.user, c.benchmark)),
    )
    find.add_argument("--wait", action="store_true", help="until it has")
    command(commands, "list", "what was found last", _candidates)


def _add_verification(commands: Any) -> None:
    start = command(commands, "start", "start a project", _start)
    start.add_argument("project")
    start.add_argument("--base", required=True, help="the label revision that its draft will change")
    which = start.add_mutually_exclusive_group()
    which.add_argument("--items", default=projects.DISPUTED, choices=(projects.ALL, *projects.WHICH[1:3]))
    which.add_argument("--item", action="append", default=[], help="only this one, by key or id (repeatable)")
    start.add_argument("--annotator", action="append", default=[], metavar="ACCOUNT", help="repeatable")
    start.add_argument("--reason", required=True)
    command(commands, "list", "progress, agreement, drafts", _projects)
    more = command(commands, "annotators", "let more people answer", _annotators)
    more.add_argument("project", type=numbered_rows)
    more.add_argument("account", nargs="+", help="ids or user names")
    show = command(commands, "show", "a pair as you see it, and what you have answered", _show)
    answer = command(commands, "answer", "say which response is better, over an earlier answer", _answer)
    models = command(commands, "models", "tell who wrote the responses; your preference stays from then on", _models)
    for one in (show, answer, models):
        one.add_argument("project", type=numbered_rows)
        one.add_argument("place", type=numbered_rows, help="number of the pair in the project, from 1")
    answer.add_argument("verdict", choices=(*answers.SEEN, *UNUSABLE), help="the better response, or why there is none")
    answer.add_argument("--error", action="append", default=[], choices=ERRORS, help="of the worse one (repeatable)")
    answer.add_argument("--note", default="")
    close = command(commands, "close", "end a project; a worker writes its draft", _close)
    close.add_argument("project", type=numbered_rows)
    _add_draft(close)


def _add_draft(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("revision", help="name of the draft")
    parser.add_argument("--reason", required=True)
    add_level(parser, "as of the base if left out")
    parser.add_argument("--wait", action="store_true", help="until a worker has done it")


def _open(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(disputes.dispute(c.database, c.user, c.items.table, o.item, o.better, o.reason, o.tag))


def _disputes(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = disputes.review(c.database, c.user, c.items.table, o.state or ("open",))
    return CliResult(text_output.disputed(found), to_jsonable(found))


def _decide(accepted: bool) -> Command:
    return lambda c, o: action_result(disputes.decide(c.database, c.user, c.benchmark, o.dispute, accepted, o.note))


def _draft(c: CliContext, o: argparse.Namespace) -> CliResult:
    told = (o.revision, o.base, o.reason, o.dispute)
    return follow_task(c, o, disputes.request_draft(c.database, c.user, c.benchmark, *told, **level_of(o)))


def _candidates(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = candidates.proposed(c.database, c.user, c.items.table)
    return CliResult(text_output.candidates(found), to_jsonable(found))


def _start(c: CliContext, o: argparse.Namespace) -> CliResult:
    which = projects.LISTED if o.item else o.items
    told = (o.project, o.base, which, o.reason)
    return action_result(
        projects.create(c.database, c.user, c.items.table, *told, items=o.item, annotators=o.annotator)
    )


def _projects(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = projects.reports(c.database, c.user, c.benchmark)
    return CliResult(text_output.projects(found), to_jsonable(found))


def _annotators(c: CliContext, o: argparse.Namespace) -> CliResult:
    return action_result(projects.add_annotators(c.database, c.user, c.benchmark, o.project, o.account))


def _show(c: CliContext, o: argparse.Namespace) -> CliResult:
    found = answers.show(c.database, c.user, c.items, o.project, o.place)
    return CliResult(text_output.pair(found), to_jsonable(found))


def _models(c: CliContext, o: argparse.Namespace) -> CliResult:
    _check_known(c)
    found = answers.show_models(c.database, c.user, c.items, o.project, o.place)
    return CliResult(text_output.pair(found), to_jsonable(found))


def _answer(c: CliContext, o: argparse.Namespace) -> CliResult:
    _check_known(c)
    said = GivenAnswer(o.verdict, tuple(o.error), o.note)
    return action_result(answers.answer(c.database, c.user, c.items.table, o.project, o.place, said))


def _check_known(c: CliContext) -> None:
    """Without sign-in everybody is the same annotator; with sign-in each user is one."""
    if c.identity is not None and c.identity.mode is Mode.OPENID:
        raise Conflict("sign-in-needed", "Answer at /annotate or over REST, where it is known who you are.")


def _close(c: CliContext, o: argparse.Namespace) -> CliResult:
    told = (o.project, o.revision, o.reason)
    return follow_task(c, o, projects.close(c.database, c.user, c.benchmark, *told, **level_of(o)))
