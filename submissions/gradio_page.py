"""Gradio page for submitting: upload a file, see the check report, describe the judge, follow the result.

`build` lays the page out inside the caller's Blocks; everything it does goes through the service it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from auth import Identity
from auth.middleware import identity_of
from benchmark.spec import BenchmarkSpec
from predictions.problems import votes_phrase
from predictions.readability import needs_confirmation
from storage.clock import minute
from submissions import visibility_options
from submissions.api import UNKNOWN_SUBMISSION
from submissions.gradio_service import GradioSubmissions, Json
from submissions.metadata import FIELDS, JUDGE_TYPES

CSS_PATH = Path(__file__).with_name("page.css")
_POLL_SECONDS = 2.0  # thirty calls a minute of those that one address may make
_SHOWN_PROBLEMS = 100
_NAMES = {
    "anonymous_until": "Anonymous until",
    "published": "On the board",
    "parameters_b": "Parameters",
    "hub_id": "Hub id",
    "judge_type": "Type",
    "open_weights": "Open weights",
}
_STATES = {
    "awaiting-approval": "Waiting for a maintainer",
    "queued": "Waiting to be scored",
    "scoring": "Being scored",
    "scored": "Scored",
    "failed": "Scoring failed",
    "withdrawn": "Withdrawn",
}
_NO_FILE: Json = {"code": "no-file", "detail": "Choose a file first.", "problems": []}
_FIELDS = (*FIELDS, *visibility_options.FIELDS, visibility_options.CONFIRMATION)
_CONFIRM = "Submit although most votes cannot be read: I know that they count as wrong"
_NOT_WATCHED = ("awaiting-approval", "failed", "withdrawn")
_SEEN = (
    '<p class="vl-hint">Anonymous: account, organisation, links and Hub id are shown nowhere until that day, at most a '
    "year ahead; but its attempt number is shown, and is missing in the numbers of your named entries. An entry that "
    "you publish later is scored and counts at once.</p>"
)
_CODE = re.compile("`([^`<>&]{1,60})`")
_SIGN_IN = "/auth/sign-in?next=/app/submit"
_REFUSED_HEADING = "Not submitted"
_EMPTY_REPORT = '<p class="vl-hint">The report appears here as soon as a file is chosen.</p>'


def build(service: GradioSubmissions, *, spec: BenchmarkSpec, limit_mb: float) -> None:
    """Lay the page out in the current Blocks context and wire it."""
    submission = gr.State("")
    clock = gr.Timer(_POLL_SECONDS, active=False)
    _html(_introduction(spec, limit_mb), elem_classes=["site", "vl-intro"])
    visitor = _html("", elem_id="visitor", elem_classes=["site"])
    with gr.Row(elem_classes="vl-columns"):
        with gr.Column(min_width=320, elem_classes="vl-file"):
            _html("<h2>The file</h2>")
            # No file types: a file is known by its content, and what it is not is said in our own words.
            file = gr.File(label="Predictions", show_label=False, elem_id="predictions", height=124)
            report = _html(_EMPTY_REPORT, elem_id="report")
            confirm = gr.Checkbox(False, label=_CONFIRM, visible=False, container=False, elem_id="confirm")
        with gr.Column(min_width=320, elem_classes="vl-judge"):
            _html("<h2>The judge</h2>")
            inputs = _form()
            button = gr.Button("Submit", variant="primary", interactive=False, elem_id="submit")
            remark = _html("", elem_id="remark", elem_classes=["site"])
            outcome = _html("", elem_id="outcome")
    _greet(service, visitor)
    inputs.append(confirm)
    _wire(service, file, report, inputs, button, remark, outcome, submission, clock)
    _expose(service, file, inputs)


def _greet(service: GradioSubmissions, visitor: gr.HTML) -> None:
    def greet(request: gr.Request) -> str:
        user = identity_of(request.request)
        return paused_html(service.paused()) + visitor_html(user, service.allowance(user))

    gr.on(None, greet, None, [visitor], api_visibility="private", show_progress="hidden")


def paused_html(message: str | None) -> str:
    """Return the message of a pause; nothing without one."""
    if message is None:
        return ""
    told = f"<b>No submissions at the moment.</b> {escape(message)} Checking a file is possible all the same."
    return f'<p class="notice late" role="status">{told}</p>'


def visitor_html(user: Identity, allowance: Mapping[str, Any]) -> str:
    """Return the submitting account, and whether it may submit now."""
    if user.auth_method == "local":
        told = "uses this machine" if len(user.roles) > 1 else "can reach this service"
        return f'<p class="notice" role="note">Everyone who {told} submits here, under one name.</p>'
    if "code" in allowance:
        return f'<p class="notice" role="note">{_remedy(allowance)}</p>'
    sentence = f"You submit as <b>{escape(user.name)}</b>."
    if allowance.get("awaiting_approval"):
        sentence += " Your first submission waits for a maintainer; the next one is possible after that."
    elif allowance["next_at"]:
        when = escape(minute(allowance["next_at"]))
        sentence += f" Your next submission is possible from {when}; checking a file is free at any time."
    return f'<p class="notice" role="note">{sentence}</p>'


def _remedy(refused: Mapping[str, Any]) -> str:
    """Return the reason of a refused submission, with the sign-in link where that helps."""
    if refused["code"] != "sign-in-needed":
        return escape(str(refused["detail"]))
    return f'<a href="{_SIGN_IN}">Sign in</a> to submit. Checking a file needs no account.'


def _html(value: str, **options: Any) -> gr.HTML:
    """Return markup without Gradio's own frame and prose rules."""
    return gr.HTML(value, apply_default_css=False, js_on_load=None, **options)


def _introduction(spec: BenchmarkSpec, limit_mb: float) -> str:
    target = "the demo benchmark" if spec.synthetic else spec.title
    return (
        '<h1>Submit predictions</h1><p class="lead">'
        f"Drop the file that your tool wrote for {target}: this project's own JSONL, the official script, "
        "lmms-eval, VLMEvalKit, or one of the reward-model formats. It is read at once, without looking at any label, "
        "and you see what was understood. A file that you do not submit is deleted within the hour. "
        f'At most {limit_mb:g} MB; gzip is fine. <a href="/about#predictions">Formats</a>, '
        '<a href="/policy">rules</a></p>'
    )


def _form() -> list[gr.components.Component]:
    """Return the fields that are text, in the order of _FIELDS: `visibility_options.parse_form` alone judges them."""
    made: dict[str, gr.components.Component] = {}

    def text(name: str, label: str, example: str = "", lines: int = 1) -> None:
        most = max(lines, 8) if lines > 1 else 1
        wide = ["vl-wide"] if lines > 1 or name == "link" else None
        made[name] = gr.Textbox("", label=label, placeholder=example, lines=lines, max_lines=most, elem_classes=wide)

    with gr.Row():
        text("model", "Model (required)", "Qwen2-VL-7B-Instruct")
        text("version", "Version", "2026-11, prompt B, ...")
    with gr.Row():
        types = [("Not stated", ""), *((name.replace("-", ", "), name) for name in JUDGE_TYPES)]
        made["judge_type"] = gr.Dropdown(types, value="", label="Type of judge")
        text("organisation", "Organisation")
    with gr.Accordion("More about it", open=False):
        with gr.Row():
            text("base_model", "Base model")
            text("parameters_b", "Parameters, in billions", "7")
            text("judge", "Judge, if the model's name says more", "Qwen2-VL-7B")
        with gr.Row():
            weights = [("Not stated", ""), ("Yes", "true"), ("No", "false")]
            made["open_weights"] = gr.Dropdown(weights, value="", label="Open weights")
            text("hub_id", "Hub id", "owner/name")
        text("link", "Link", "https://")
        with gr.Row():
            text("paper", "Paper", "https://arxiv.org/abs/...")
            text("code", "Code", "https://github.com/...")
        text("prompt", "Prompt", lines=3)
        text("temperature", "Temperature", "0")
        text("notes", "Notes", lines=2)
    with gr.Accordion("Who sees it, and when", open=False):
        with gr.Row():
            text("anonymous_until", "Anonymous until", "2027-01-31")
            seen = [("At once", "true"), ("When I publish it", "false")]
            made["published"] = gr.Dropdown(seen, value="true", label="On the board")
        _html(_SEEN)
    return [made[name] for name in (*FIELDS, *visibility_options.FIELDS)]


def _wire(
    service: GradioSubmissions,
    file: gr.File,
    report: gr.HTML,
    inputs: Sequence[gr.components.Component],
    button: gr.Button,
    remark: gr.HTML,
    outcome: gr.HTML,
    submission: gr.State,
    clock: gr.Timer,
) -> None:
    confirm = inputs[-1]

    def show_report(path: str | None) -> tuple[str, Any, Any]:
        off, hidden = gr.update(interactive=False), gr.update(value=False, visible=False)
        if path is None:
            return _EMPTY_REPORT, off, hidden
        found = service.check(Path(path))
        if "code" in found:
            return refusal_html(found, "Not checked"), off, hidden
        paused = service.paused()
        told = "" if paused is None else _notice({"message": f"No submissions at the moment. {paused}"})
        asked = gr.update(value=False, visible=bool(found["ok"]) and needs_confirmation(found))
        return told + report_html(found), gr.update(interactive=bool(found["ok"]) and paused is None), asked

    def send(request: gr.Request, path: str | None, *values: object) -> tuple[str, str, str, Any]:
        taken = _submit(service, path, values, identity_of(request.request))
        if "code" in taken:
            return "", refusal_html(taken), "", gr.update(active=False)
        status = service.status(taken["id"], identity_of(request.request))
        return duplicate_html(taken), status_html(status, None, service.scores), taken["id"], gr.update(active=True)

    def watch(request: gr.Request, name: str) -> tuple[str, Any]:
        status = service.status(name, identity_of(request.request)) if name else None
        scored = status is not None and status["state"] == "scored"
        card = service.result(name) if scored else None
        waiting = status is not None and status["state"] not in _NOT_WATCHED and not (card or _held_back(status))
        return status_html(status, card, service.scores), gr.update(active=waiting)

    file.change(show_report, [file], [report, button, confirm], api_visibility="private", show_progress="minimal")
    button.click(
        send, [file, *inputs], [remark, outcome, submission, clock], api_visibility="private", scroll_to_output=True
    )
    clock.tick(watch, [submission], [outcome, clock], api_visibility="private", show_progress="hidden")


def _submit(service: GradioSubmissions, path: str | None, values: Sequence[object], user: Identity) -> Json:
    if path is None:
        return dict(_NO_FILE)
    return service.submit(Path(path), dict(zip(_FIELDS, values, strict=True)), user)


def _expose(service: GradioSubmissions, file: gr.File, inputs: Sequence[gr.components.Component]) -> None:
    """`check`, `submit` and `status` by name, for gradio_client. Answers are those of the REST routes."""

    def check(file: str | None) -> Json:
        return service.check(Path(file)) if file is not None else dict(_NO_FILE)

    def status(request: gr.Request, submission: str) -> Json:
        return service.status(submission, identity_of(request.request)) or dict(UNKNOWN_SUBMISSION)

    answer = gr.JSON(visible=False)
    name = gr.Textbox("", label="submission", visible=False)
    trigger = gr.Button(visible=False)
    trigger.click(check, [file], [answer], api_name="check")
    trigger.click(_submission_call(service), [file, *inputs], [answer], api_name="submit")
    trigger.click(status, [name], [answer], api_name="status")


def _submission_call(service: GradioSubmissions) -> Callable[..., Json]:
    """Return the function `submit`. gradio_client takes the names of its parameters from here."""

    def submit(
        request: gr.Request,
        file: str,
        model: str,
        version: str = "",
        organisation: str = "",
        judge_type: str = "",
        base_model: str = "",
        parameters_b: str = "",
        open_weights: str = "",
        link: str = "",
        paper: str = "",
        code: str = "",
        hub_id: str = "",
        temperature: str = "",
        prompt: str = "",
        notes: str = "",
        judge: str = "",
        anonymous_until: str = "",
        published: str = "true",
        accept_unreadable: bool = False,
    ) -> Json:
        said = (model, version, organisation, judge_type, base_model, parameters_b, open_weights)
        values = (*said, link, paper, code, hub_id, temperature, prompt, notes, judge, anonymous_until, published)
        return _submit(service, file, (*values, accept_unreadable), identity_of(request.request))

    return submit


def report_html(report: Mapping[str, Any]) -> str:
    """Return a check report for people. Everything in it is escaped."""
    parts = [_headline(report)]
    if report.get("format"):
        parts.append(_facts(report))
    parts += [_notice(one) for one in report.get("warnings", [])]
    if report.get("problems") and not _about_whole_file(report["problems"]):
        parts.append(_problem_table(report["problems"], report.get("problem_count", len(report["problems"]))))
    parts.append(samples_html(report.get("samples") or ()))
    return "".join(parts)


def _headline(report: Mapping[str, Any]) -> str:
    if report["ok"]:
        sentence = f"{report['items']:,} pairs, {votes_phrase(report['votes_per_item'])}."
        if needs_confirmation(report):
            return f'<p class="vl-verdict vl-bad" role="status">Needs your confirmation: {sentence}</p>'
        return f'<p class="vl-verdict vl-good" role="status">Ready to submit: {sentence}</p>'
    problems = report["problems"]
    if _about_whole_file(problems):
        why = f'<p class="vl-why">{_words(problems[0]["message"])}</p>'
        return f'<div role="status"><p class="vl-verdict vl-bad">This file cannot be submitted.</p>{why}</div>'
    count = report.get("problem_count", len(problems))
    what = "one problem" if count == 1 else f"{count:,} problems"
    return f'<p class="vl-verdict vl-bad" role="status">Fix {what} before submitting.</p>'


def _about_whole_file(problems: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the one problem is not that of a line."""
    return len(problems) == 1 and problems[0].get("line") is None and problems[0].get("id") is None


def samples_html(samples: Sequence[Mapping[str, Any]]) -> str:
    """Return replies of the file, each with its reading; nothing where there are none."""
    if not samples:
        return ""
    told = "".join(
        f'<li><p class="vl-read">{escape(str(one["read"]))} <span>{escape(str(one["id"]))}</span></p>'
        f'<p class="vl-reply"><bdi>{escape(str(one["reply"])) or "(empty)"}</bdi></p></li>'
        for one in samples
    )
    return f'<div class="vl-samples"><h3>Sample replies, and what was read from each</h3><ul>{told}</ul></div>'


def _facts(report: Mapping[str, Any]) -> str:
    rows: list[tuple[str, str]] = [("Format", str(report["format"]))]
    if report.get("revision"):
        rows.append(("Pairs", f"All {report['items']:,} (revision {report['revision']})"))
    if report.get("votes_per_item"):
        rows.append(("Votes per pair", str(report["votes_per_item"])))
    if report.get("parse_rate") is not None:
        rows.append(("Readable votes", f"{100 * report['parse_rate']:.1f}%"))
    if report.get("first_shown_rate") is not None:
        rows.append(("Picked the first answer", f"{100 * report['first_shown_rate']:.1f}% (50% is unbiased)"))
    cells = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows)
    return f'<dl class="vl-facts">{cells}</dl>'


def _notice(warning: Mapping[str, Any]) -> str:
    ids = [str(one) for one in warning.get("ids") or ()]
    listed = ""
    if ids:
        summary = f"{len(ids)} item{'s' if len(ids) > 1 else ''}"
        listed = f"<details><summary>{summary}</summary><p>{escape(', '.join(ids))}</p></details>"
    return f'<div class="vl-warning"><p>{_words(warning["message"])}</p>{listed}</div>'


def _words(message: object) -> str:
    """Return a message, with text between backticks as code. Everything in it is escaped."""
    return _CODE.sub(r"<code>\1</code>", escape(str(message)))


def _problem_table(problems: Sequence[Mapping[str, Any]], count: int) -> str:
    titles = {"line": "Line", "id": "Item", "field": "Field", "message": "Problem"}
    anywhere = any(one.get(name) is not None for one in problems for name in ("line", "id", "field"))
    columns = tuple(titles) if anywhere else ("message",)  # a problem of the whole file has no line
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(one.get(name)))}</td>" for name in columns) + "</tr>"
        for one in problems[:_SHOWN_PROBLEMS]
    )
    more = count - min(len(problems), _SHOWN_PROBLEMS)
    note = f'<p class="vl-hint">and {more:,} more</p>' if more > 0 else ""
    head = "".join(f'<th scope="col">{titles[name]}</th>' for name in columns)
    table = f'<table class="vl-problems"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="vl-scroll" tabindex="0" role="region" aria-label="Problems">{table}</div>{note}'


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def duplicate_html(taken: Mapping[str, Any]) -> str:
    """Return the note on an earlier identical submission; nothing without one."""
    if not taken.get("duplicate"):
        return ""
    told = f"These bytes were already submitted as <code>{escape(str(taken['id']))}</code>; nothing changed."
    return f'<p class="notice" role="note">{told}</p>'


def refusal_html(refused: Mapping[str, Any], heading: str = _REFUSED_HEADING) -> str:
    """Return why a submission was not taken."""
    problems = refused.get("problems") or []
    if any(one.get("line") or one.get("id") for one in problems):
        listed = _problem_table(problems, refused.get("problem_count", len(problems)))
        return f'<div class="vl-outcome vl-bad" role="alert"><h3>{heading}</h3></div>{listed}'
    messages = [escape(_named(str(one["message"]))) for one in problems] or [_remedy(refused)]
    items = "".join(f"<li>{message}</li>" for message in messages)
    return f'<div class="vl-outcome vl-bad" role="alert"><h3>{heading}</h3><ul>{items}</ul></div>'


def _named(message: str) -> str:
    """Return a message that starts with a field's name starts with the name on its label."""
    field, colon, rest = message.partition(": ")
    if not colon or field not in _FIELDS:
        return message
    return f"{_NAMES.get(field, field.replace('_', ' ').capitalize())}: {rest}"


def status_html(status: Mapping[str, Any] | None, card: Mapping[str, Any] | None, names: Sequence[str]) -> str:
    """Return where a submission is; its result once there is one. ``names``: of the scores, in their order."""
    if status is None:
        return ""
    name = " ".join(filter(None, (str(status["model"] or "A judge"), str(status["version"] or ""))))
    heading = f"<h3>{escape(_STATES.get(status['state'], status['state']))}</h3>"
    lines = [f"<p>{escape(name)}, submission <code>{escape(status['id'])}</code></p>"]
    if status["state"] == "queued" and status.get("position"):
        eta = f", about {max(1, round(status['eta_seconds']))} s" if status.get("eta_seconds") is not None else ""
        lines.append(f"<p>Number {status['position']} in line{eta}.</p>")
    if status.get("reason"):
        lines.append(f"<p>{escape(status['reason'])}</p>")
    if card:
        lines.append(_scores(card, names))
    if _held_back(status):
        lines.append(f'<p>It is not published. <a href="/account/submissions/{status["id"]}">Publish it</a></p>')
    elif status["state"] == "scored":
        wait = "" if card else '<p class="vl-hint">The board follows in a moment.</p>'
        lines.append(f'{wait}<p><a href="{escape(status["entry_url"])}">Open the entry</a></p>')
    receipt = f"/api/v1/submissions/{status['id']}/receipt"
    lines.append(f'<p><a href="{escape(receipt)}">Receipt</a></p>')
    kind = {"scored": "vl-good", "failed": "vl-bad"}.get(status["state"], "vl-busy")
    state = escape(status["state"])
    return f'<div class="vl-outcome {kind}" role="status" data-state="{state}">{heading}{"".join(lines)}</div>'


def _held_back(status: Mapping[str, Any]) -> bool:
    """Return whether an entry is scored, and its owner publishes it later."""
    return status["state"] == "scored" and not status.get("published", True)


def _scores(card: Mapping[str, Any], names: Sequence[str]) -> str:
    strict = next(iter(card["protocols"].values()))
    cells = "".join(
        f'<div class="vl-{name}"><dt>{name.capitalize()}</dt><dd>{100 * strict[name]:.1f}</dd></div>'
        for name in names
        if strict.get(name) is not None
    )
    return f'<dl class="vl-scores">{cells}</dl>'
