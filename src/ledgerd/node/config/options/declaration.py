"""The declaration of options: an `Option` for each, and an `OptionSection` for those of one part of the node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from ledgerd.node.config.values.kind import OptionKind
from ledgerd.node.config.values.values import PATH

R = TypeVar("R")

CERTIFICATES = ("certificate", "certificate_key", "authority")


class WrongTogether(Exception):
    """Values that are valid by themselves but not together; names the option to change."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(problem)
        self.option = option


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name in files and on the command line, its kind of value, and its help text."""

    name: str
    kind: OptionKind[Any]
    help: str
    default: str | tuple[str, ...] | None = None
    repeatable: bool = False
    words: bool = False
    """Each value is a list, its elements set apart by spaces, tabs or commas."""
    older_names: tuple[str, ...] = ()
    """Former names; their values come before those of the present name."""
    leaving_names: Mapping[str, str] = field(default_factory=dict)
    """Former names that go, each with the version that does not have it; a node that is given one warns until then."""
    leaves_in: str = ""
    """The version that does not have the option; a node that is given it warns until then."""
    short: str = ""
    example: str = ""
    ours: bool = False
    """Whether the reference lacks this option."""
    command_line_only: bool = False
    without_meaning: str = ""
    """Why this node accepts and ignores it; empty for an option with a meaning."""
    field: str = ""
    """The field of the record that its value goes to, `limits.batch` for one of a record within it; empty if that
    is the option's name, without the prefix of its section and with underscores."""

    def __post_init__(self) -> None:
        if self.words and not self.repeatable:
            raise TypeError(f"{self.name}: what holds words has many")

    @property
    def defaults(self) -> tuple[str, ...]:
        match self.default:
            case None:
                return ()
            case str(text):
                return (text,)
            case texts:
                return texts

    @property
    def shown(self) -> str:
        return self.example or (self.defaults[0] if self.defaults and self.defaults[0] else self.kind.example)

    def older(self) -> Iterator[Option]:
        for name, leaves_in in {**dict.fromkeys(self.older_names, self.leaves_in), **self.leaving_names}.items():
            yield replace(
                self,
                name=name,
                help=f"Older name of {self.name}.",
                older_names=(),
                leaving_names={},
                leaves_in=leaves_in,
                short="",
            )


our_option = partial(Option, ours=True)


@dataclass(frozen=True, slots=True)
class SectionContext:
    """The facts that a section needs besides its own values."""

    data_dir: Path
    current_dir: Path
    remark: Callable[[str], None]


def _unjoined(_values: dict[str, Any], _context: SectionContext) -> None:
    pass


def _unchanged(record: R, _context: SectionContext) -> R:
    return record


@dataclass(frozen=True, slots=True)
class OptionSection(Generic[R]):
    """The options of one part of the node, and the record that is made from their values."""

    title: str
    about: str
    record: type[R]
    with_meaning: tuple[Option, ...]
    without_meaning: tuple[Option, ...] = ()
    prefixes: tuple[str, ...] = ()
    """Prefixes of the options' names that the names of fields do not have."""
    within: Mapping[str, type] = field(default_factory=dict)
    """Records that are fields of the record, by the name of the field."""
    join: Callable[[dict[str, Any], SectionContext], None] = field(default=_unjoined)
    complete: Callable[[R, SectionContext], R] = field(default=_unchanged)

    @property
    def fields(self) -> dict[str, Option]:
        return {option.field or self._derived(option.name): option for option in self.with_meaning}

    def _derived(self, name: str) -> str:
        prefix = next(filter(name.startswith, self.prefixes), "")
        return name.removeprefix(prefix).replace("-", "_")

    @property
    def options(self) -> tuple[Option, ...]:
        return (*self.with_meaning, *self.without_meaning)

    def made(self, values: Mapping[str, Any], context: SectionContext) -> R:
        given: dict[str, Any] = {}
        inner: dict[str, dict[str, Any]] = {name: {} for name in self.within}
        for path, value in values.items():
            name, _, rest = path.partition(".")
            if rest:
                inner[name][rest] = value
            else:
                given[name] = value
        self.join(given, context)
        given |= {name: self.within[name](**parts) for name, parts in inner.items()}
        return self.complete(self.record(**given), context)


def certificate_options(
    name: str, shown_to: str, other: str, files: tuple[str, str], *, note: str = "", record: str = ""
) -> tuple[Option, ...]:
    """The certificates of a link whose sides show one to each other: `files` are examples of ours and of theirs."""
    ours, theirs = files
    parts = (
        (f"The certificate that this node shows to {shown_to}, relative to the data directory.", f"{ours}.pem"),
        (f"The key of that certificate{note}. Only its owner should be able to read it.", f"{ours}.key"),
        (f"The certificate that {other} must show, or that of the authority which has signed it.", f"{theirs}.pem"),
    )
    return tuple(
        our_option(f"{name}-{part.replace('_', '-')}", PATH, text, example=example, field=f"{record}{part}")
        for part, (text, example) in zip(CERTIFICATES, parts, strict=True)
    )


def certificates_of(record: object) -> dict[str, Path | None]:
    return {name: getattr(record, name) for name in CERTIFICATES}
