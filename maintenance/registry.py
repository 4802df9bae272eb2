"""Declaration of maintainer actions: one decorated function is the REST route, the command, the form and the log entry.

    @action("entries.unverify", "POST /api/v1/entries/{entry}/unverify", role=Role.MAINTAINER,
            audit=UNVERIFIED, title="Verification taken back",
            public="Entry {entry} is no longer verified: {reason}", owner="It is no longer verified: {reason}",
            button="Take verification back")
    def unverify(ctx: ActionContext, entry: EntryParam, reason: Reason) -> ActionResult: ...

The signature says what is asked for. Names in braces in the route are parts of the address; other parameters are fields
of the JSON body, or of the query for GET. On the command line, parameters with an `option` are options, others are
positional. A parameter whose type is a dataclass stands for its fields. The docstring says to people what it does, on
the form, the command line and in the documentation. An action is for maintainers unless its role says otherwise: then
its function authorises. The role also decides who is refused before a body is read, and whether the public API
description lists the route.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, fields, is_dataclass
from inspect import Parameter as SignatureParameter
from inspect import getdoc, signature
from types import ModuleType
from typing import Annotated, Any, Concatenate, Generic, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from pydantic import Field

from auth import Role
from maintenance.action_context import ActionContext, PublicEvent
from maintenance.types import ActionResult, require_maintainer, whole_number
from maintenance.view import View, view_of
from storage.database import LARGEST

P = ParamSpec("P")
R = TypeVar("R")
REQUIRED = SignatureParameter.empty
BASE = "/api/v1/maintenance"
_PLACE = re.compile(r"{(\w+)}")
_ASIDE = re.compile(r"(For|Raises) [^.]*\.")  # who may do it, and what programs meet


@dataclass(frozen=True, slots=True)
class ParamInfo:
    """How people give a parameter on the command line and in a form. Part of its `Annotated` type."""

    label: str = ""  # of its form field; "" makes it of the parameter's name
    placeholder: str = ""
    _: KW_ONLY
    help: str = ""  # on the command line and in the API description
    option: str = ""  # "--reason"; "" is a positional argument
    metavar: str | None = None
    choices: Sequence[str] = ()
    is_file: bool = False  # a form sends a file, whose text it is; `read` reads the file that a command names
    whole_body: bool = False  # the JSON body is this mapping
    read: Callable[[str], Any] | None = None  # typed text to value; raises Conflict


@dataclass(frozen=True, slots=True)
class ActionParameter:
    """A parameter of an action. `group`: the dataclass parameter that it is a field of."""

    name: str
    type: Any  # without Annotated
    annotation: Any
    default: Any
    info: ParamInfo
    group: str = ""

    @property
    def required(self) -> bool:
        """Return whether it must be given."""
        return self.default is REQUIRED

    @property
    def is_list(self) -> bool:
        """Return whether it takes several values."""
        return get_origin(self.type) in (list, Sequence)

    @property
    def is_mapping(self) -> bool:
        """Return whether it takes FIELD=VALUE pairs."""
        return get_origin(self.type) in (dict, Mapping)


@dataclass(frozen=True, slots=True)
class ActionDeclaration:
    """What the decorator states beside the signature."""

    name: str  # "entries.unverify": area and verb
    route: str  # "POST /api/v1/..."
    _: KW_ONLY
    role: Role = Role.MAINTAINER  # SUBMITTER: owners, or everybody with an account; the function decides
    audit: str = ""  # kind of the audit event
    public: str = ""  # sentence of the public decision log; "" is not public
    title: str = ""  # of the event in the log
    shown: Sequence[str] = ()  # fields of the event that the log shows; () is those of the sentence
    owner: str = ""  # sentence in the activity list of the entry's owner
    button: str = ""  # on the maintain page; "" is none
    danger: bool = False  # whether it takes something away; its button stands apart
    effect: str = ""  # what people read that it does; "" is the first paragraph of the docstring
    command: str | None = None  # words on the command line; None is those of the name, "" is no command of its own
    waits: bool = False  # whether a worker does it, so that its command can wait
    view: Callable[[Any], View] = view_of  # a result for people
    single: bool = False  # whether it is for one row of a table at a time

    def __call__(self, function: Callable[Concatenate[ActionContext, P], R]) -> Action[P, R]:
        """Return the action that the function is."""
        area, _, verb = self.name.partition(".")
        method, _, path = self.route.partition(" ")
        asked = tuple(_parameters(function))
        return Action(self, function, parameters=asked, area=area, verb=verb, method=method, path=path)


action = ActionDeclaration


@dataclass(frozen=True)
class Action(Generic[P, R]):
    """A declared function. Calling it calls the function, for those who may."""

    declared: ActionDeclaration
    function: Callable[Concatenate[ActionContext, P], R]
    parameters: tuple[ActionParameter, ...]
    area: str  # what it is about: the tab, the group of commands
    verb: str
    method: str  # of HTTP
    path: str  # with names in braces

    def __call__(self, ctx: ActionContext, *arguments: P.args, **named: P.kwargs) -> R:
        """Do it. Raises what the function raises; Unauthenticated and Forbidden where a maintainer is needed."""
        if self.declared.role is Role.MAINTAINER:
            require_maintainer(ctx.user)
        return self.function(ctx, *arguments, **named)

    @property
    def name(self) -> str:
        """Return the name: area, dot, verb."""
        return self.declared.name

    @property
    def command(self) -> str:
        """Return the words of its command; "" for none."""
        return self.name.replace(".", " ") if self.declared.command is None else self.declared.command

    @property
    def description(self) -> str:
        """Return the first paragraph of the docstring, in one line."""
        return " ".join((getdoc(self.function) or "").partition("\n\n")[0].split())

    @property
    def summary(self) -> str:
        """Return what people read that it does, before they do it."""
        return self.declared.effect or " ".join(_ASIDE.sub("", self.description).split())

    def in_path(self) -> tuple[ActionParameter, ...]:
        """Return the parameters that are parts of the address."""
        names = set(_PLACE.findall(self.path))
        return tuple(parameter for parameter in self.parameters if parameter.name in names)

    def sent(self) -> tuple[ActionParameter, ...]:
        """Return the other parameters: fields of the body or of the query."""
        names = set(_PLACE.findall(self.path))
        return tuple(parameter for parameter in self.parameters if parameter.name not in names)

    def run(self, ctx: ActionContext, values: Mapping[str, Any]) -> R:
        """Call the function with values by parameter name; those left out keep their defaults."""
        named = {
            parameter.name: values[parameter.name]
            for parameter in self.parameters
            if parameter.name in values and not parameter.group
        }
        for group, kind in _groups(self.function).items():
            inside = {parameter.name for parameter in self.parameters if parameter.group == group}
            named[group] = kind(**{name: value for name, value in values.items() if name in inside})
        return self(ctx, **named)  # type: ignore[call-arg]  # a signature checks them where they come in

    def view(self, result: Any) -> View:
        """Return a result for people."""
        return view_of(result) if isinstance(result, ActionResult) else self.declared.view(result)

    def public_event(self) -> PublicEvent | None:
        """Return how the public log shows its event; None where it is private."""
        declared = self.declared
        if not declared.public:
            return None
        names = declared.shown or tuple(dict.fromkeys(re.findall(r"{(\w+)", declared.public)))
        return PublicEvent(names, declared.public, title=declared.title, by_owners=declared.role is not Role.MAINTAINER)


class ActionRegistry:
    """All actions of an installation, in the order of their areas and, there, of modules and definitions."""

    def __init__(self, actions: Sequence[Action[Any, Any]], areas: Mapping[str, str] | None = None) -> None:
        self._by_name: dict[str, Action[Any, Any]] = {}
        self.areas = dict(areas or {})  # area -> help of its commands
        order = {area: number for number, area in enumerate(self.areas)}
        for added in sorted(actions, key=lambda each: order.get(each.area, len(order))):
            if self._by_name.setdefault(added.name, added) is not added:
                raise ValueError(f"Two actions are named {added.name}.")

    @classmethod
    def of(cls, modules: Sequence[ModuleType], areas: Mapping[str, str] | None = None) -> ActionRegistry:
        """Return the actions that are defined in these modules."""
        results = [value for module in modules for value in vars(module).values() if isinstance(value, Action)]
        return cls(results, areas)

    def __iter__(self) -> Iterator[Action[Any, Any]]:
        return iter(self._by_name.values())

    def __getitem__(self, name: str) -> Action[Any, Any]:
        return self._by_name[name]

    def public_events(self) -> dict[str, PublicEvent]:
        """Return audit kind -> how the public decision log shows it."""
        return {item.declared.audit: event for item in self if (event := item.public_event()) is not None}

    def owner_sentences(self) -> dict[str, str]:
        """Return audit kind -> what the owner of the entry reads."""
        return {item.declared.audit: item.declared.owner for item in self if item.declared.owner}


def _parameters(function: Callable[..., Any]) -> Iterator[ActionParameter]:
    hints = get_type_hints(function, include_extras=True)
    for parameter in list(signature(function).parameters.values())[1:]:
        kind = _bare(hints[parameter.name])
        if is_dataclass(kind):
            inside = get_type_hints(kind, include_extras=True)
            for each in fields(kind):
                default = REQUIRED if each.default is MISSING else each.default
                default = each.default_factory() if each.default_factory is not MISSING else default
                yield _parameter(each.name, inside[each.name], default=default, group=parameter.name)
        else:
            yield _parameter(parameter.name, hints[parameter.name], default=parameter.default, group="")


def _parameter(name: str, hint: Any, *, default: Any, group: str) -> ActionParameter:
    infos = [annotation for annotation in get_args(hint) if isinstance(annotation, ParamInfo)]
    return ActionParameter(
        name, _bare(hint), annotation=hint, default=default, info=infos[0] if infos else ParamInfo(), group=group
    )


def _groups(function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    hints = get_type_hints(function, include_extras=True)
    names = list(signature(function).parameters)[1:]
    return {name: _bare(hints[name]) for name in names if is_dataclass(_bare(hints[name]))}


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


ACCOUNT_HELP = "its id, or its user name if nobody else has it; `accounts list` shows both"
EntryParam = Annotated[str, ParamInfo("Entry", "e followed by eleven characters")]
AccountName = Annotated[str, ParamInfo("Account", "user name or id", help=ACCOUNT_HELP)]
Reason = Annotated[str, ParamInfo("Reason", option="--reason")]
Revision = Annotated[str, ParamInfo("Revision", "v3")]
RowNumber = Annotated[int, Field(ge=0, le=LARGEST), ParamInfo(read=whole_number)]
"""Of something that is numbered."""
AccountSearch = Annotated[
    str, ParamInfo("Search", option="--search", metavar="TEXT", help="only those with this in name or id")
]
Confirmation = Annotated[
    str,
    ParamInfo(
        "To confirm, type the revision's name", option="--confirm", metavar="REVISION", help="the revision's name again"
    ),
]
DraftName = Annotated[str, ParamInfo("Draft", "v3-disputes", help="name of the draft")]
BaseRevision = Annotated[str, ParamInfo("Changes revision", "v2", option="--base", help="the revision that is changed")]
