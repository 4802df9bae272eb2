"""Conversion of texts from forms and dialogs to the values of actions. Pure."""

from __future__ import annotations

from math import isfinite
from typing import Any

from maintenance.registry import ActionParameter
from maintenance.types import Conflict
from vlrb.common.messages import _


def value(action_parameter: ActionParameter, typed: Any) -> Any:
    """Return what somebody typed as the action takes it. Raises Conflict."""
    if action_parameter.type is int and action_parameter.info.read is None:
        return int(typed) if typed and isfinite(typed) else 0
    if action_parameter.type is bool:
        return bool(typed)
    text = (typed or "").strip()
    if action_parameter.is_list:
        return [(action_parameter.info.read or str)(part) for part in parts(text, action_parameter.info.separator)]
    if action_parameter.is_mapping:
        pairs = [part.split("=", 1) for part in parts(text, action_parameter.info.separator or ",")]
        if any(len(pair) == 1 or not pair[0].strip() for pair in pairs):
            raise Conflict("bad-pairs", _("Write field=text, separated by commas."))
        return {name.strip(): text.strip() for name, text in pairs}
    return (
        action_parameter.info.read(text)
        if action_parameter.type is int and action_parameter.info.read is not None
        else text
    )


def parts(text: str, separator: str = ",") -> list[str]:
    """Return the parts of a text that is a list, without empty ones."""
    return [part.strip() for part in text.split(separator) if part.strip()]
