"""Which plugins are installed, by the entry points of distributions. Nothing of a plugin is imported to find it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

import msgspec

from ledgerd.basics.failures import reason_of
from ledgerd.basics.printable import printable
from ledgerd.plugins.declarations import PluginDeclaration, PluginRefused, fault_of
from ledgerd.protocol.secrets import without_keys

GROUP = "ledgerd.plugins"
LONGEST_REASON = 300
"""Characters of the reason why a plugin does not load."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class InstalledPlugin(msgspec.Struct, frozen=True):
    """An entry point, and the distribution that it is of."""

    name: str
    distribution: str
    version: str
    place: str

    def __str__(self) -> str:
        return f"{self.name} ({self.distribution} {self.version})"


def installed() -> tuple[InstalledPlugin, ...]:
    found = [
        InstalledPlugin(*map(printable, (each.name, *_origin(each), each.value))) for each in entry_points(group=GROUP)
    ]
    return tuple(sorted(found, key=lambda each: (each.name, each.distribution)))


def _origin(entry: EntryPoint) -> tuple[str, str]:
    return ("", "") if entry.dist is None else (entry.dist.name, entry.dist.version)


def fault_of_name(name: str, found: Iterable[InstalledPlugin]) -> str:
    """Why the plugin of a name cannot be enabled; empty if it can."""
    those = [each for each in found if each.name == name]
    if not those:
        return "it is not installed"
    if len(those) > 1:
        return f"several distributions have it: {', '.join(each.distribution for each in those)}: remove all but one"
    if not _NAME.fullmatch(name):
        return "its name must be of small letters, digits and underscores, 64 at most, a letter first"
    return ""


def load(name: str) -> PluginDeclaration:
    """Import a plugin. `PluginRefused`: it is none that runs here."""
    if fault := fault_of_name(name, installed()):
        raise PluginRefused(fault)
    (entry,) = entry_points(group=GROUP, name=name)
    try:
        declared = entry.load()
        fault = fault_of(declared)
    except BaseException as problem:  # a plugin that ends the program while it is imported is refused too
        raise PluginRefused(f"it cannot be imported: {text_of_failure(problem)}") from problem
    if fault or not isinstance(declared, PluginDeclaration):
        raise PluginRefused(fault)
    return declared


def text_of_failure(problem: BaseException) -> str:
    """An exception of a plugin in a line: of one kind, in bounds, and without a key."""
    where, step = "", problem.__traceback__
    while step is not None:
        where, step = f" ({step.tb_frame.f_code.co_filename}, line {step.tb_lineno})", step.tb_next
    shown = " ".join(f"{type(problem).__name__}: {reason_of(problem)}".split())
    return printable(without_keys(shown))[:LONGEST_REASON] + printable(where)
