"""How the author of a plugin declares it: an API of methods, or an observer. An entry point names the declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ledgerd.plugins.values import ObservedBlock
from ledgerd.rpc.call.declarations import deferral_of

API_VERSION = "1.0"
"""The version of what `ledgerd.plugins` names. The second number grows when something is added, the first when
something that plugins use is changed or removed.
"""

MOST_SECONDS = 5.0
"""The most seconds that a method may ask for."""

Declared = TypeVar("Declared", bound=Callable[..., Any])


class PluginRefused(Exception):
    """A plugin does not run here, however often it is started; the text says why."""


class PluginError(Exception):
    """A refusal for the client of a method: the code and message of a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ApiPlugin:
    """Methods under the name of the plugin.

    rates = ApiPlugin("Rates of the markets.", api_version="1.0")

    @rates.method
    def latest(view: ReadView, market: int, most: int = 10) -> list[Rate]:
        '''The latest rates of a market.'''

    Arguments and results are of types that msgspec knows: numbers, texts, lists, dictionaries, dataclasses, structs.
    """

    def __init__(self, summary: str, *, api_version: str, seconds: float = 2.0) -> None:
        self.summary = summary
        self.api_version = api_version
        self.seconds = seconds
        """Seconds that a method may take, up to five; then it is interrupted."""
        self.methods: dict[str, Callable[..., Any]] = {}

    def method(self, function: Declared) -> Declared:
        if function.__name__ in self.methods:
            raise ValueError(f"two methods are named {function.__name__}")
        self.methods[function.__name__] = function
        return function


class PluginObserver:
    """Is told what the chain does, in a process of its own. Override the methods that the plugin needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """The folder for the plugin's own files."""

    def position(self) -> int | None:
        """The last block whose results the observer has stored; None if it does not store that itself. It is asked for
        at the start, and the blocks after it are sent. An observer that writes its results and this number in one
        transaction has the effect of each block exactly once.
        """
        return None

    def applied(self, block: ObservedBlock) -> None:
        """A block became the head. When this returns, the block is done: it is not sent again after a stop, and may be
        sent again after a kill.
        """

    def undone(self, number: int) -> None:
        """All blocks above this one are undone, or may be. The observer may not have been sent all of them."""

    def irreversible(self, number: int) -> None:
        """No block up to this one can be undone any more."""

    def close(self) -> None:
        """The node stops."""


class ObserverPlugin:
    """An observer, which is made once its process has started, with a folder for its own files."""

    def __init__(
        self, summary: str, make: Callable[[Path], PluginObserver], *, api_version: str, start: int = 0
    ) -> None:
        self.summary = summary
        self.make = make
        self.api_version = api_version
        self.start = start
        """The first block that it is sent; 0 for the one after the head when it is enabled for the first time."""


PluginDeclaration = ApiPlugin | ObserverPlugin


def version_fault(version: object) -> str:
    """Why a plugin made for this version of the API does not run here; empty if it does."""
    ours = tuple(map(int, API_VERSION.split(".")))
    parts = version.split(".") if isinstance(version, str) else []
    if len(parts) != len(ours) or not all(each.isascii() and each.isdecimal() and len(each) < 6 for each in parts):
        return f"it does not say for which version of the plugin API it is made, such as {API_VERSION}"
    theirs = tuple(map(int, parts))
    if theirs[0] != ours[0]:
        return f"it is made for version {version} of the plugin API, and this node has {API_VERSION}: get another one"
    if theirs > ours:
        return f"it is made for version {version} of the plugin API, and this node has {API_VERSION}: update the node"
    return ""


def fault_of(declared: object) -> str:
    """The fault of a declaration; empty if there is none."""
    if not isinstance(declared, ApiPlugin | ObserverPlugin):
        return f"its entry point must name an ApiPlugin or an ObserverPlugin, not a {type(declared).__name__}"
    if fault := version_fault(declared.api_version):
        return fault
    if isinstance(declared, ObserverPlugin):
        is_block = isinstance(declared.start, int) and declared.start >= 0
        return "" if is_block else "its start is not the number of a block"
    if not 0 < declared.seconds <= MOST_SECONDS:
        return f"its methods ask for {declared.seconds} seconds, and at most {MOST_SECONDS:g} are allowed"
    return next(filter(None, map(_fault_of_method, declared.methods.values())), "")


def fault_of_observer(made: object) -> str:
    """The fault of the object that `make` returns; empty if there is none."""
    if not isinstance(made, PluginObserver):
        return f"what makes its observer must return a PluginObserver, not a {type(made).__name__}"
    for method in (made.position, made.applied, made.undone, made.irreversible, made.close):
        if deferral := deferral_of(method):
            return f"its {method.__name__}() is {deferral}, and nothing of it would run: write a plain function"
    return ""


def _fault_of_method(function: Callable[..., Any]) -> str:
    parameters = [*inspect.signature(function).parameters.values()]
    if deferral := deferral_of(function):
        return f"its method {function.__name__} is {deferral}, and nothing of it would run: write a plain function"
    if not parameters or any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in parameters):
        return f"its method {function.__name__} must take a view, then positional arguments only"
    if any(each.annotation is each.empty for each in parameters[1:]):
        return f"its method {function.__name__} has an argument without a type"
    if inspect.signature(function).return_annotation is inspect.Signature.empty:
        return f"its method {function.__name__} does not say what it returns"
    return ""
