"""Operations as sentences with links, and their fields as tables, both as the declarations say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, get_type_hints

import orjson
from markupsafe import Markup, escape

from ledgerd.codec import kind_of, record_kind
from ledgerd.codec.types.records import Field
from ledgerd.explorer.words import numbers, values
from ledgerd.explorer.words.language import Language
from ledgerd.explorer.words.times import LATEST, absolute, seconds_of
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.roles import NO, IdOf, Meaning, fields_marked
from ledgerd.protocol.types.assets import Asset

Fields = Mapping[str, Any]
Shown = Callable[[Any, Language], Markup]

LONGEST_JSON = 4_000
"""Characters of a JSON text that a page shows."""

KINDS = {name_of(each): each for each in OPERATIONS}


def _percent(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    return Markup('<b class="fig">%s</b>') % numbers.percent(value)


def _number(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    return escape(numbers.grouped(value))


def _text(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    return values.quoted(value) if value != "" else values.NONE


def _time(value: Any, language: Language) -> Markup:  # noqa: ANN401 - JSON
    seconds = seconds_of(value)
    if seconds >= LATEST:
        return escape(language.text("ago.never"))
    return escape(absolute(language, seconds)) if seconds else values.NONE


def _in_quotes(text: str, language: Language) -> Markup:
    quotes = language.text("quotes")
    return Markup("%s%s%s") % (quotes[0], values.quoted(text, 40), quotes[1])


def _json(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return Markup('<pre tabindex="0">%s</pre>') % values.visible_lines(text[:LONGEST_JSON])


BY_MARK: Mapping[object, Shown] = {
    Meaning.HUNDREDTHS: _percent,
    Meaning.WHOLE_PERCENT: lambda value, language: _percent(value * 100, language),
    Meaning.LABEL: _text,
    Meaning.URL: lambda value, _: values.outside(value),
    **dict.fromkeys(IdOf, lambda value, _: Markup("#%s") % str(value)),
    IdOf.MARKET: lambda value, _: values.market(value),
    IdOf.REQUEST: lambda value, _: values.request(value),
}

BY_KIND: Mapping[str, Shown] = {
    "account name": lambda value, _: values.account(value),
    "asset": lambda value, _: numbers.amount(value),
    "public key": lambda value, _: values.key(value),
    "authority": lambda value, _: values.authority(value),
    "string": _text,
    "time": _time,
    "bool": lambda value, language: escape(language.text("yes" if value else "no")),
    "set of account name": lambda value, _: values.joined([values.account(each) for each in value]),
    "set of public key": lambda value, _: values.joined([values.key(each) for each in value]),
    "set of string": lambda value, _: values.joined([values.quoted(each, 80) for each in value]),
    "vector of account name": lambda value, _: values.joined([values.account(each) for each in value]),
    "vector of string": lambda value, language: values.joined([_in_quotes(each, language) for each in value]),
    "vector of OperationWrapper": lambda value, language: Markup("<br>").join(
        sentence(language, *each["op"]) for each in value
    ),
    "share": _number,
}


def _form_of(field: Field) -> Shown:
    by_mark = next((BY_MARK[mark] for mark in field.marks if mark in BY_MARK), None)
    return by_mark or _form_of_kind(field.kind.title.removeprefix("optional "))


def _form_of_kind(title: str) -> Shown:
    return BY_KIND.get(title) or (_number if title.startswith(("int", "uint")) else _json)


@cache
def forms_of(name: str) -> Mapping[str, Shown]:
    return {field.name: _form_of(field) for field in record_kind(KINDS[name]).fields} if name in KINDS else {}


_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class _Template(NamedTuple):
    """A sentence as its constant texts, escaped, and the values between them."""

    holds: Callable[[Fields], bool]
    opening: str
    values: tuple[tuple[Shown, Callable[[Fields], Any], str], ...]
    """Each with the constant text after it."""


@cache
def _templates(language: Language, operation: str) -> tuple[_Template, ...]:
    """The first one that holds is taken; the last one is for all others."""
    words = language.operations[operation]
    made = [(_condition(operation, case), text) for case, text in words.cases.items()]
    return tuple(_template(operation, *each) for each in (*made, (lambda _: True, words.sentence)))


def _template(operation: str, holds: Callable[[Fields], bool], text: str) -> _Template:
    pieces, forms = _PLACEHOLDER.split(text), forms_of(operation)
    shown = [(forms[each], itemgetter(each)) if each in forms else _made(operation, each) for each in pieces[1::2]]
    opening, *constants = (str(escape(piece)) for piece in pieces[::2])
    return _Template(holds, opening, tuple((*each, constant) for each, constant in zip(shown, constants, strict=True)))


def _condition(operation: str, case: str) -> Callable[[Fields], bool]:
    if not case.startswith(NO):
        return _made(operation, case)[1]
    field = next(each for each in record_kind(KINDS[operation]).fields if each.attribute == case.removeprefix(NO))
    name, parse, nothing = field.name, field.kind.parse, field.default()
    if isinstance(nothing, Asset):
        return lambda fields: not numbers.units_of(fields[name])
    if isinstance(nothing, bool):
        return lambda fields: not fields[name]
    return lambda fields: bool(parse(fields[name]) == nothing)


def _made(operation: str, name: str) -> tuple[Shown, Callable[[Fields], Any]]:
    kind = record_kind(KINDS[operation])
    returned = get_type_hints(getattr(kind.record, name).fget, include_extras=True)["return"]
    return _form_of_kind(kind_of(returned).title), lambda fields: getattr(kind.parse(fields), name)


def sentence(language: Language, operation: str, fields: Fields) -> Markup:
    """An operation as a sentence; its name alone if the node cannot print its fields."""
    if operation not in KINDS or not fields:
        return Markup("<code>%s</code>") % operation
    *cases, template = _templates(language, operation)
    for case in cases:
        if case.holds(fields):
            template = case
            break
    pieces = [template.opening]
    for shown, value_of, constant in template.values:
        pieces += (shown(value_of(fields), language), constant)
    return Markup("".join(pieces))  # noqa: S704 - each is escaped, or made by `values`


def note_of(operation: str, fields: Fields) -> str:
    name = _note_field(operation)
    return "" if name is None else str(fields.get(name, ""))


@cache
def _note_field(operation: str) -> str | None:
    marked = fields_marked(KINDS[operation], Meaning.MEMO, Meaning.REMARK) if operation in KINDS else ()
    return next((field.name for field in marked), None)


def table_of(language: Language, operation: str, fields: Fields) -> list[tuple[str, Markup]]:
    forms = forms_of(operation)
    return [
        (name, values.NONE if value is None else forms.get(name, _json)(value, language))
        for name, value in fields.items()
        if not (name == "extensions" and not value)
    ]
