"""Description of a model by the Hugging Face Hub, as values for the fields of a submission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from storage.metadata import FIELDS
from storage.metadata_fields import FieldRefused
from vlrb.common.messages import _

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

HUB_FIELDS = ("model", "organisation", "base_model", "parameters_b", "open_weights")
"""That the Hub may know."""
SECONDS = 5.0  # that the Hub has for its answer
_WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth")
_AWAY = _("The Hub does not answer. Fill the fields in by hand, or try again later.")
_EXPANDED = ["author", "cardData", "gated", "safetensors", "siblings"]


class HubModelUnknown(Exception):
    """The Hub says nothing of a model; the message says why and what to do."""


def hub_fields(hub_id: str, endpoint: str | None = None) -> Mapping[str, str]:
    """Return what the Hub states of a public model, by field, as the form takes it; `endpoint` None is the Hub's own.

    Raises:
        HubModelUnknown: it is no id, no public model, or the Hub does not answer.
    """
    from httpx2 import TransportError  # with the Hub's client a fifth of a second, which no other page should wait for
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    try:
        name = FIELDS["hub_id"].read(hub_id)
    except FieldRefused as refused:
        raise HubModelUnknown(_("Hub id: {problem}", problem=str(refused))) from None
    try:
        info = HfApi(endpoint=endpoint, token=False).model_info(name, timeout=SECONDS, expand=_EXPANDED)  # type: ignore[arg-type]
    except HfHubHTTPError as error:
        if error.response.status_code in (401, 403, 404):
            message = _("The Hub has no public model {name}. Check the id, or fill the fields in by hand.", name=name)
            raise HubModelUnknown(message) from None
        raise HubModelUnknown(_AWAY) from None
    except (TransportError, OSError, ValueError, OfflineModeIsEnabled):
        raise HubModelUnknown(_AWAY) from None
    return {field: value for field, value in _values(name, info).items() if value and _is_taken(field, value)}


def _values(name: str, info: ModelInfo) -> Mapping[str, str]:
    owner, model = name.split("/")
    card = info.card_data.to_dict() if info.card_data is not None else {}  # type: ignore[no-untyped-call]
    base = card.get("base_model")
    names = [base] if isinstance(base, str) else base if isinstance(base, list) else []
    total = info.safetensors.total if info.safetensors is not None else 0
    files = [file.rfilename for file in info.siblings or ()]
    has_weights = any(file.endswith(_WEIGHTS) for file in files)
    return {
        "model": model,
        "organisation": info.author or owner,
        "base_model": str(names[0]) if len(names) == 1 else "",  # several were merged: no one model was trained
        "parameters_b": f"{total / 1e9:.3g}" if total else "",
        "open_weights": "true" if has_weights and info.gated is False else "",
    }


def _is_taken(field: str, value: str) -> bool:
    """Return whether a field takes a value: a model card holds whatever its author has written."""
    try:
        FIELDS[field].read(value)
    except FieldRefused:
        return False
    return True
