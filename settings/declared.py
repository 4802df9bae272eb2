"""Declaration of settings: types of values, the base class that reads them, the sentence about a wrong one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from vlrb.common.messages import Message, _
from vlrb.disclosure import HIDDEN, LEVELS

_LEVELS = {"": HIDDEN} | {level.removeprefix(f"{HIDDEN}:"): level for level in LEVELS}
"""As they are written behind the colon, and without one."""
_YES, _NO = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


class SettingsError(ValueError):
    """A setting is wrong; the message names it and says what to write instead."""


def split_names(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return tuple(filter(None, (part.strip() for part in value.split(","))))


def _levels(value: Any) -> Any:
    """Label revision -> disclosure level, from `v3,v4:categories,v5:public`."""
    if not isinstance(value, str):
        return value
    levels: dict[str, str] = {}
    for part in split_names(value):
        name, sign, level = part.partition(":")
        if level not in _LEVELS or bool(sign) != bool(level):
            raise ValueError(
                _(
                    "HIDDEN_LABELS has {part}. After the colon, write one of {levels}; a name alone means {usual}.",
                    part=part,
                    levels=", ".join(filter(None, _LEVELS)),
                    usual=HIDDEN,
                )
            )
        if name in levels:
            raise ValueError(_("HIDDEN_LABELS names {name} twice. Keep one of them.", name=name))
        levels[name] = _LEVELS[level]
    return levels


def _files_by_name(value: Any) -> Any:
    """Benchmark -> file, from `traffic=/srv/traffic.jsonl,weather=/srv/weather.jsonl`."""
    if not isinstance(value, str):
        return value
    files: dict[str, Path] = {}
    for part in split_names(value):
        name, sign, path = (piece.strip() for piece in part.partition("="))
        if not sign or not name or name in files or not Path(path).is_file():
            raise ValueError(
                _(
                    "ITEMS_FILES has {part!r}, which is not benchmark=file, each once. Make a file with "
                    "python -m maintenance items, or leave it out.",
                    part=part,
                )
            )
        files[name] = Path(path).absolute()
    return files


def _yes_or_no(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.lower() not in _YES | _NO:
        raise ValueError(_("{name}={value} is neither yes nor no. Write {name}=1 or leave it out."))
    return value.lower() in _YES


Names = Annotated[tuple[str, ...], BeforeValidator(split_names)]
Levels = Annotated[Mapping[str, str], BeforeValidator(_levels)]
Paths = Annotated[tuple[Path, ...], BeforeValidator(split_names)]
Files = Annotated[Mapping[str, Path], BeforeValidator(_files_by_name)]
Flag = Annotated[bool, BeforeValidator(_yes_or_no)]


def setting(default: Any, description: str, *, shown: str = "", workers_only: bool = False, **limits: Any) -> Any:
    """Declare a setting. `shown` is how the documentation names the default; `limits` are those of `pydantic.Field`.

    `workers_only`: a web process beside workers of their own does not need it.
    """
    extra: dict[str, Any] = {"shown": shown, "workers_only": workers_only}
    return Field(default, description=description, json_schema_extra=extra, **limits)


class DeclaredSettings(BaseSettings):
    """Settings whose only source is the mapping that `from_env` gets: no process environment, no .env file."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", enable_decoding=False, validate_default=False)

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Read every setting of this class; an empty value means unset.

        Raises:
            SettingsError: the first setting that cannot be used, with the remedy.
        """
        texts = {key: environ.get(key.upper(), "").strip() for key, _ in keys_of(cls)}
        try:
            return cls(**{key: text for key, text in texts.items() if text})
        except ValidationError as error:
            raise SettingsError(_sentence(cls, error)) from None


def keys_of(cls: type[BaseSettings]) -> Iterator[tuple[str, FieldInfo]]:
    """Return the key of each setting, which is its environment name in small letters."""
    return ((info.alias or name, info) for name, info in cls.model_fields.items())


def _sentence(cls: type[BaseSettings], error: ValidationError) -> str:
    """Return the first problem as a sentence that names the setting and the remedy."""
    first = error.errors()[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    name = key.upper()
    if first["type"] == "value_error":
        text = str(first["ctx"]["error"])
        if isinstance(text, Message) and not text.values:  # a validator of one field does not know its name
            return _(text.msgid, name=name, value=str(first["input"]))
        return text
    info = dict(keys_of(cls))[key]
    limits = {
        type(limit).__name__.lower(): getattr(limit, type(limit).__name__.lower())
        for limit in info.metadata
        if type(limit).__name__ in ("Ge", "Le")
    }
    pattern = (
        _("{name}={value} is not a whole number from {ge} to {le}. For instance {name}={default}.")
        if info.annotation is int
        else _("{name}={value} is not a number from {ge} to {le}. For instance {name}={default}.")
    )
    numbers = {key: f"{number:g}" for key, number in (*limits.items(), ("default", info.default))}
    return _(pattern.msgid, name=name, value=str(first["input"]), **numbers)
