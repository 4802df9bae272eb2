"""Declaration of settings: types of values, the base class that reads them, the sentence about a wrong one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from vlrb.disclosure import HIDDEN, LEVELS

_LEVELS = {"": HIDDEN} | {level.removeprefix(f"{HIDDEN}:"): level for level in LEVELS}
"""As they are written behind the colon, and without one."""
_YES, _NO = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


class WrongValue(ValueError):
    """The value of one setting; the message has {name} and {value}, since a validator does not know the name."""


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
            levels_known = ", ".join(filter(None, _LEVELS))
            raise ValueError(
                f"HIDDEN_LABELS has {part}. After the colon, write one of {levels_known}; a name alone means {HIDDEN}."
            )
        if name in levels:
            raise ValueError(f"HIDDEN_LABELS names {name} twice. Keep one of them.")
        levels[name] = _LEVELS[level]
    return levels


def _yes_or_no(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.lower() not in _YES | _NO:
        raise WrongValue("{name}={value} is neither yes nor no. Write {name}=1 or leave it out.")
    return value.lower() in _YES


Names = Annotated[tuple[str, ...], BeforeValidator(split_names)]
Levels = Annotated[Mapping[str, str], BeforeValidator(_levels)]
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
        problem = first["ctx"]["error"]
        return str(problem).format(name=name, value=first["input"]) if isinstance(problem, WrongValue) else str(problem)
    info = dict(keys_of(cls))[key]
    limits = {
        type(limit).__name__.lower(): getattr(limit, type(limit).__name__.lower())
        for limit in info.metadata
        if type(limit).__name__ in ("Ge", "Le")
    }
    kind = "a whole number" if info.annotation is int else "a number"
    between = f"from {limits['ge']:g} to {limits['le']:g}"
    return f"{name}={first['input']} is not {kind} {between}. For instance {name}={info.default:g}."
