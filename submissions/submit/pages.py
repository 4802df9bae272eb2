"""Gradio page for submitting: upload a file, see the check report, describe the judge, follow the result.

`build` lays the page out inside the caller's Blocks; everything it does goes through the service it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gradio as gr

from auth.middleware import identity_of
from storage.metadata import FIELDS
from storage.metadata_fields import MetadataField
from submissions import visibility_options
from submissions.submit.hub_model import HUB_FIELDS, HubModelUnknown, hub_fields
from submissions.submit.render import (
    INTRODUCTION_ID,
    introduction_html,
    is_held_back,
    part,
    refusal_html,
    report_html,
    status_html,
)
from submissions.submit.service import GradioSubmissions, PlaceOnBoard
from vlrb.benchmarks.spec import BenchmarkSpec
from vlrb.common.messages import _, joined
from vlrb.common.translations import ENGLISH, Translations, translations
from vlrb.predictions.readability import needs_confirmation

CSS_PATH = Path(__file__).with_name("page.css")
_POLL_SECONDS = 2.0  # thirty calls a minute of those that one address may make
_NO_FILE: dict[str, Any] = {"code": "no-file", "detail": _("Choose a file first."), "problems": []}
_FIELDS = (*FIELDS, *visibility_options.FIELDS, visibility_options.CONFIRMATION)
_CONFIRM = _("Submit although most votes cannot be read: I know that they count as wrong")
_NOT_WATCHED = ("awaiting-approval", "failed", "withdrawn")
_SEEN = _(
    "Your account, organisation, links and Hub id stay hidden until that day (up to a year). Readers can still see "
    "the attempt number, and the gap in the numbers of your named entries. "
    "Unpublished entries still count toward your limit."
)
_CHOOSE_FIRST = _("Choose a file first: the button works once the file is checked.")
_FIX_FIRST = _("The button works once the file has no problems.")
_NOTHING_NEW = _("The Hub has nothing to add to what is filled in.")
_PAUSED = _("The button works again when the pause is over.")
_QUIETLY: Any = {"api_visibility": "private", "show_progress": "hidden"}
_EMPTY_REPORT = _("Choose a file to see the check here.")


ServiceOf = Callable[[gr.Request], GradioSubmissions]
"""The use cases of the benchmark that a request is about."""


def build(
    service: ServiceOf,
    *,
    spec: BenchmarkSpec,
    limit_mb: float,
    language: str = ENGLISH,
) -> None:
    """Lay the page out in the current Blocks context and wire it; `spec`: of the benchmark that it is drawn for."""
    of = translations(language)
    submission = gr.State("")
    clock = gr.Timer(_POLL_SECONDS, active=False)
    _html(introduction_html(spec, limit_mb, of=of), elem_id=INTRODUCTION_ID, elem_classes=["site", "vl-intro"])
    visitor = _html("", elem_id="visitor", elem_classes=["site"])
    with gr.Row(elem_classes="vl-columns"):
        with gr.Column(min_width=320, elem_classes="vl-file"):
            _html(part("heading", _("The file"), of=of))
            # No file types: a file is known by its content, and what it is not is said in our own words.
            file = gr.File(label="Predictions", show_label=False, elem_id="predictions", height=124)
            report = _html(part("hint", _EMPTY_REPORT, of=of), elem_id="report")
            confirm = gr.Checkbox(False, label=of.text(_CONFIRM), visible=False, container=False, elem_id="confirm")
        with gr.Column(min_width=320, elem_classes="vl-judge"):
            _html(part("heading", _("The judge"), of=of))
            hub_id, from_hub, hub_outcome = _hub_row(of)
            components = {**_form(of), "hub_id": hub_id, visibility_options.CONFIRMATION: confirm}
            button = gr.Button(of.text(_("Submit")), variant="primary", interactive=False, elem_id="submit")
            why_off = _html(part("why_off", _CHOOSE_FIRST, of=of), elem_id="why-off")
            remark = _html("", elem_id="remark", elem_classes=["site"])
            outcome = _html("", elem_id="outcome")
    inputs = {name: components[name] for name in _FIELDS}
    _greet(service, visitor, of=of)
    _offer_hub_values(from_hub, hub_outcome, inputs=inputs, of=of)
    file.change(_check_of(service, of), [file], [report, button, why_off, confirm], **_QUIETLY)
    taken = [remark, outcome, submission, clock]
    button.click(_send_of(service, of), [file, *inputs.values()], taken, **_QUIETLY)
    clock.tick(_watch_of(service, of), [submission], [outcome, clock], **_QUIETLY)


def _greet(service_of: ServiceOf, visitor: gr.HTML, *, of: Translations) -> None:
    def greet(request: gr.Request) -> str:
        user, service = identity_of(request.request), service_of(request)
        paused = service.intake.paused()
        notice = "" if paused is None else part("paused", paused, of=of)
        return notice + part("visitor", user, service.allowance(user), service.page, of=of)

    gr.on(None, greet, None, [visitor], **_QUIETLY)


def _html(value: str, **options: Any) -> gr.HTML:
    """Return markup without Gradio's own frame and prose rules."""
    return gr.HTML(value, apply_default_css=False, js_on_load=None, **options)


def _hub_row(of: Translations) -> tuple[gr.components.Component, gr.Button, gr.HTML]:
    """Return the Hub id, what fills other fields in from there, and the place of what came of it."""
    with gr.Row(elem_classes="vl-hub"):
        hub_id = _input("hub_id", FIELDS["hub_id"], of=of)
        button = gr.Button(of.text(_("Fill in from the Hub")), size="sm", elem_id="from-hub")
    return hub_id, button, _html("", elem_id="hub-outcome")


def _offer_hub_values(
    button: gr.Button, outcome: gr.HTML, *, inputs: Mapping[str, gr.components.Component], of: Translations
) -> None:
    """Fill empty fields in with what the Hub states; what somebody typed stays."""
    filled = [inputs[name] for name in HUB_FIELDS]

    def fill(hub_id: str, *typed: str) -> list[Any]:
        try:
            stated = hub_fields(hub_id)
        except HubModelUnknown as unknown:
            return [part("warning", str(unknown), of=of), *(gr.skip() for _name in HUB_FIELDS)]
        stays = {name for name, value in zip(HUB_FIELDS, typed, strict=True) if value}
        new = {name: stated[name] for name in HUB_FIELDS if name in stated and name not in stays}
        fields = joined(of.known(FIELDS[name].title) for name in new)
        words = _("Filled in from the Hub: {fields}. Please check.", fields=fields) if new else _NOTHING_NEW
        return [part("why_off", words, of=of), *(new.get(name, gr.skip()) for name in HUB_FIELDS)]

    gr.on(
        [button.click, inputs["hub_id"].submit],  # type: ignore[attr-defined]  # a text field's Enter key
        fill,
        [inputs["hub_id"], *filled],
        [outcome, *filled],
        **_QUIETLY,
    )


def _form(of: Translations) -> dict[str, gr.components.Component]:
    """Return the fields that are text, by name: `visibility_options.parse_form` alone judges them."""
    components: dict[str, gr.components.Component] = {}
    for group in dict.fromkeys(field.group for field in FIELDS.values()):
        fields = {name: field for name, field in FIELDS.items() if field.group == group and name != "hub_id"}
        if group:
            with gr.Accordion(of.known(group), open=False):
                components |= _lay_out(fields, of)
        else:
            components |= _lay_out(fields, of)
    with gr.Accordion(of.text(_("Visibility (optional)")), open=False):
        with gr.Row():
            components["anonymous_until"] = gr.Textbox(
                "", label=of.text(_("Hide my name until")), placeholder="2027-01-31", elem_id="field-anonymous_until"
            )
            seen = [(of.text(_("now")), "true"), (of.text(_("when I publish it")), "false")]
            components["published"] = gr.Dropdown(
                seen, value="true", label=of.text(_("Publish")), elem_id="field-published"
            )
        _html(part("hint", _SEEN, of=of))
    return components


def _lay_out(fields: Mapping[str, MetadataField], of: Translations) -> dict[str, gr.components.Component]:
    """Return fields of one section: two on a line, then each that takes a whole one."""
    narrow = [name for name, field in fields.items() if not field.wide]
    components: dict[str, gr.components.Component] = {}
    for at in range(0, len(narrow), 2):
        with gr.Row():
            components |= {name: _input(name, fields[name], of=of) for name in narrow[at : at + 2]}
    return components | {name: _input(name, field, of=of) for name, field in fields.items() if field.wide}


def _input(name: str, field: MetadataField, *, of: Translations) -> gr.components.Component:
    label = of.known(field.form_label)
    if field.required:
        label = of.text(_("{label} (required)", label=label))
    if field.choices:
        choices = [(of.text(_("Not stated")), ""), *((of.known(words), value) for value, words in field.choices)]
        return gr.Dropdown(choices, value="", label=label, elem_id=f"field-{name}")
    most = max(field.lines, 8) if field.lines > 1 else 1
    wide = ["vl-wide"] if field.wide else None
    return gr.Textbox(
        "",
        label=label,
        placeholder=field.example,
        lines=field.lines,
        max_lines=most,
        elem_classes=wide,
        elem_id=f"field-{name}",
    )


def _check_of(service_of: ServiceOf, of: Translations) -> Callable[[gr.Request, str | None], tuple[str, Any, str, Any]]:
    """Return what checks a file: the report, and what becomes of the button and of the box to confirm."""

    def show_report(request: gr.Request, path: str | None) -> tuple[str, Any, str, Any]:
        service = service_of(request)
        off, hidden = gr.update(interactive=False), gr.update(value=False, visible=False)
        if path is None:
            return part("hint", _EMPTY_REPORT, of=of), off, part("why_off", _CHOOSE_FIRST, of=of), hidden
        result = service.check(Path(path))
        if "code" in result:
            return (
                refusal_html(result, heading=_("Not checked"), page=service.page, of=of),
                off,
                part("why_off", _FIX_FIRST, of=of),
                hidden,
            )
        paused = service.intake.paused()
        closed = _("No submissions at the moment. {reason}", reason=paused)
        notice = "" if paused is None else part("warning", closed, of=of)
        asked = gr.update(value=False, visible=bool(result["ok"]) and needs_confirmation(result))
        reason = _FIX_FIRST if not result["ok"] else _PAUSED if paused is not None else ""
        why_off = part("why_off", reason, of=of) if reason else ""
        return notice + report_html(result, of), gr.update(interactive=not reason), why_off, asked

    return show_report


def _send_of(service_of: ServiceOf, of: Translations) -> Callable[..., tuple[str, str, str, Any]]:
    """Return what submits a file with the fields of the form, in the order of _FIELDS."""

    def send(request: gr.Request, path: str | None, *values: object) -> tuple[str, str, str, Any]:
        service = service_of(request)
        form = dict(zip(_FIELDS, values, strict=True))
        taken = service.submit(Path(path), form, user=identity_of(request.request)) if path else _NO_FILE
        if "code" in taken:
            return "", refusal_html(taken, page=service.page, of=of), "", gr.update(active=False)
        status = service.status(taken["id"], identity_of(request.request))
        return (
            part("duplicate", taken["id"], of=of) if taken["duplicate"] else "",
            status_html(status, None, names=service.spec.headline_first, of=of),
            taken["id"],
            gr.update(active=True),
        )

    return send


def _watch_of(service_of: ServiceOf, of: Translations) -> Callable[[gr.Request, str], tuple[str, Any]]:
    """Return what shows where a submission is, until nothing more follows."""

    def watch(request: gr.Request, name: str) -> tuple[str, Any]:
        service = service_of(request)
        status = service.status(name, identity_of(request.request)) if name else None
        scored = status is not None and status["state"] == "scored"
        card = service.result(name) if scored else None
        place = service.place(name, _address(request)) if card else PlaceOnBoard()
        ended = (card and place.settled) or (status is not None and is_held_back(status))
        waiting = status is not None and status["state"] not in _NOT_WATCHED and not ended
        return status_html(status, card, names=service.spec.headline_first, place=place.html, of=of), gr.update(
            active=waiting
        )

    return watch


def _address(request: gr.Request) -> str:
    """Return the address of the service as the visitor's browser names it."""
    call = request.request
    return "" if call is None else f"{call.url.scheme}://{call.url.netloc}"
