"""Templates, filled: one compiled set for each language, whose texts are put in when it is loaded."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import Any, NamedTuple

import orjson
from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from ledgerd.explorer.node.watch import BlockFacts
from ledgerd.explorer.words import numbers, values
from ledgerd.explorer.words.language import CODES, NAMES, Language, language
from ledgerd.explorer.words.sentences import note_of, sentence, table_of
from ledgerd.explorer.words.times import NEVER, STEPS, absolute, lasting, when

FORMS = {
    "style.css": "text/css; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
PREFIX = "/static/"


class StaticFile(NamedTuple):
    """One file."""

    body: bytes
    form: str


@cache
def _named() -> Mapping[str, tuple[str, StaticFile]]:
    folder = files(__package__).joinpath("assets")
    found = {}
    for name, form in FORMS.items():
        body = folder.joinpath(name).read_bytes()
        found[name] = (f"{PREFIX}{hashlib.sha256(body).hexdigest()[:12]}-{name}", StaticFile(body, form))
    return found


def asset_path(name: str) -> str:
    return _named()[name][0]


@cache
def assets() -> Mapping[str, StaticFile]:
    return dict(_named().values())


NO_TRANSACTION = 0xFFFF
"""The place in its block of what no transaction did."""

_WORD = re.compile(r"\[\[([a-z0-9_.]+)\]\]")


@cache
def _sources() -> Mapping[str, str]:
    """Templates by their names, which are unique across folders."""
    found = (each for family in files(__package__).joinpath("templates").iterdir() for each in family.iterdir())
    return {each.name: each.read_text(encoding="utf-8") for each in found}


@cache
def environment(code: str) -> Environment:
    """The templates in a language. What is no markup already is escaped, and its hidden characters shown."""
    spoken = language(code)

    def put(found: re.Match[str]) -> str:
        return str(escape(spoken.text(found[1])))

    sources = {name: _WORD.sub(put, source) for name, source in _sources().items()}
    made = Environment(
        loader=DictLoader(sources),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: values.visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=len(sources),
    )
    made.globals |= _globals_of(spoken)
    return made


def family_of(name: str) -> str:
    if name.startswith("pm_"):
        return "markets"
    if any(word in name for word in ("vote", "validator_", "committee", "proposal", "proxy", "properties")):
        return "votes"
    return "money" if name.startswith("transfer") or "award" in name or "reward" in name else "other"


class DrawingTime:
    """The time at which a page is drawn. Templates do not wait, so one page after the other has it."""

    now = 0.0


MOMENT = DrawingTime()


@lru_cache(maxsize=1024)
def chip(spoken: Language, name: str, is_virtual: bool = False) -> Markup:
    kind = f"{family_of(name)} virtual" if is_virtual else family_of(name)
    title, shown = escape(name), escape(spoken.title_of(name))
    return Markup(f'<span class="chip {kind}" title="{title}">{shown}</span>')  # noqa: S704 - escaped above


def operation_line(spoken: Language, row: Mapping[str, Any], *, with_time: bool = True) -> Markup:
    """An operation in a list. Lists of them are what most pages consist of: a template takes three times as long."""
    name, fields = row["op"]
    is_signed = row["trx_in_block"] != NO_TRANSACTION
    place = ""
    if with_time:
        place = str(when(spoken, row["timestamp"], MOMENT.now))
        if is_signed:
            identifier = escape(row["trx_id"])
            place = f'<a href="/tx/{identifier}" title="{identifier}">{place}</a>'
        place = f"{place} · {values.block(row['block'])}"
    elif is_signed:
        place = str(values.transaction(row["trx_id"]))
    note = note_of(name, fields)
    noted = f'<p class="note">{values.quoted(note)}</p>\n' if note else ""
    return Markup(  # noqa: S704 - every part is escaped, or made by `values`
        f"<li>\n{chip(spoken, name, row['virtual_op'] > 0)}\n"
        f'<span class="say">{sentence(spoken, name, fields)}</span>\n'
        f'<span class="when">{place}</span>\n{noted}</li>\n'
    )


def operation_lines(spoken: Language, rows: Sequence[Mapping[str, Any]], *, with_time: bool = True) -> Markup:
    return Markup("".join(operation_line(spoken, each, with_time=with_time) for each in rows))  # noqa: S704 - as above


def block_row(spoken: Language, row: BlockFacts) -> str:
    """A block in the list of blocks, for the same reason."""
    inside = " ".join(
        f"{chip(spoken, name)} <small>×{count}</small>" if count > 1 else str(chip(spoken, name))  # noqa: RUF001
        for name, count in row.kinds
    )
    inside = inside or f'<span class="soft">{escape(spoken.text("empty"))}</span>'
    return (
        f"<tr><td>{values.block(row.number)}</td><td>{values.account(row.validator)}</td>"
        f'<td class="r">{numbers.grouped(row.transactions)}</td><td>{inside}</td>'
        f'<td class="r">{when(spoken, row.time, MOMENT.now)}</td></tr>'
    )


def block_rows(spoken: Language, rows: Sequence[BlockFacts]) -> Markup:
    return Markup("\n".join(block_row(spoken, each) for each in rows))  # noqa: S704 - as above


def name_lines(names: Sequence[str]) -> Markup:
    return Markup("\n".join(f"<li>{values.account(each)}</li>" for each in names))  # noqa: S704 - as above


def ages_of(spoken: Language) -> str:
    words: dict[str, object] = {name: spoken.texts[f"span.{name}"] for _, name in STEPS}
    words |= {name: spoken.texts[f"ago.{name}"] for name in ("now", "past", "ahead")}
    return orjson.dumps(words).decode()


def _globals_of(spoken: Language) -> dict[str, object]:
    return {
        "code": spoken.code,
        "codes": CODES,
        "language_names": NAMES,
        "asset": asset_path,
        "text": spoken.text,
        "counted": lambda key, number: spoken.counted(key, number, numbers.grouped(number)),
        "ops": partial(operation_lines, spoken),
        "block_rows": partial(block_rows, spoken),
        "name_lines": name_lines,
        "chip": partial(chip, spoken),
        "sentence": partial(sentence, spoken),
        "fields": partial(table_of, spoken),
        "title_of": spoken.title_of,
        "lasting": partial(lasting, spoken),
        "account": values.account,
        "key": values.key,
        "block": values.block,
        "transaction": values.transaction,
        "market": values.market,
        "request": values.request,
        "authority": values.authority,
        "outside": values.outside,
        "quoted": values.quoted,
        "dash": values.NONE,
        "amount": numbers.amount,
        "milli": numbers.milli,
        "whole": numbers.whole,
        "grouped": numbers.grouped,
        "percent": numbers.percent,
        "ratio": numbers.ratio,
        "micro": lambda number: numbers.amount(numbers.micro_text(number)),
        "when": lambda text, *, full=False: when(spoken, text, MOMENT.now, is_full=full),
        "moment": MOMENT,
        "stamp": lambda seconds: absolute(spoken, seconds),
        "whole_shares": lambda number: numbers.whole(numbers.micro_text(number)),
        "ages": ages_of(spoken),
        "never": NEVER,
    }


def draw(template: str, code: str, facts: Mapping[str, Any], now: float) -> str:
    MOMENT.now = now
    return environment(code).get_template(template).render(facts)
