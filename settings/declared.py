"""Declaration of settings: types of values, the base class that reads them, the sentence about a wrong one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict


class SettingsError(ValueError):
    """A setting is wrong; the message names it and says what to write instead."""


def split_names(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return tuple(filter(None, (part.strip() for part in value.split(","))))


Names = Annotated[tuple[str, ...], BeforeValidator(split_names)]


def setting(
    default: Any, description: str, *, shown: str = "", example: str = "", workers_only: bool = False, **limits: Any
) -> Any:
    """Declare a setting. `shown` is how the documentation names the default; `limits` are those of `pydantic.Field`.

    `example`: a value for who wrote a wrong one, where the default is none. `workers_only`: a web process beside
    workers of their own has no use for it.
    """
    extra: dict[str, Any] = {"shown": shown, "example": example or f"{default}", "workers_only": workers_only}
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
    def usual(cls, environ: Mapping[str, str]) -> Mapping[str, str]:
        """Return key -> text of settings that have another default where the process runs."""
        return {}

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Read every setting of this class; an empty value means unset.

        Raises:
            SettingsError: the first setting that cannot be used, with the remedy.
        """
        usual = cls.usual(environ)
        texts = {key: environ.get(key.upper(), "").strip() or usual.get(key, "") for key, _ in keys_of(cls)}
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
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    key = str(first["loc"][0])
    extra: Any = dict(keys_of(cls))[key].json_schema_extra
    return f"{key.upper()}={first['input']}: {first['msg']}. For instance {key.upper()}={extra['example']}."
