"""Calls methods of an application: parameters by name or place, over a connection that reads one snapshot of tables."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

import msgspec
from sqlalchemy import Row, event
from sqlalchemy.exc import DBAPIError

from ledgerd.app.declaring.application import Application
from ledgerd.app.errors import WrongDeclaration
from ledgerd.app.tables.databases import READ_SECONDS, database_error_text, open_readers
from ledgerd.basics.failures import reason_of
from ledgerd.basics.printable import printable
from ledgerd.protocol.secrets import without_keys

INVALID_PARAMETERS, NO_METHOD, FAILED = -32602, -32601, -32000
STEPS = 10_000
"""Steps of SQLite's virtual machine between two checks of the time limit."""
LARGEST_ANSWER = 4 << 20
"""Bytes of the answer to a call, and of the answers to a whole batch."""


class CallError(Exception):
    """A call that is answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(without_keys(message))
        self.code = code


class MethodSignature:
    """A method, and what it takes."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function
        self.summary = (inspect.getdoc(function) or "").partition("\n")[0]
        parameters = list(inspect.signature(function).parameters.values())[1:]
        try:
            hints = get_type_hints(function, include_extras=True)  # with the bounds of `Annotated`
        except Exception as problem:  # types of the application's file, which may raise anything
            why = f"the types of the method {name} are not known when it runs: {reason_of(problem)}"
            raise WrongDeclaration(f"{why}: import them outside of TYPE_CHECKING") from problem
        self.types = {each.name: hints.get(each.name, Any) for each in parameters}
        self.optional = {each.name for each in parameters if each.default is not inspect.Parameter.empty}
        self.result = hints.get("return", Any)

    def arguments(self, given: object) -> dict[str, Any]:
        """Parameters as the types that the method declares."""
        if given is None:
            given = ()
        if isinstance(given, Sequence) and not isinstance(given, str):
            if len(given) > len(self.types):
                raise CallError(INVALID_PARAMETERS, f"{self.name} takes {len(self.types)} parameters at most")
            given = dict(zip(self.types, given, strict=False))
        if not isinstance(given, Mapping):
            raise CallError(INVALID_PARAMETERS, "params are a list, or an object by names")
        for name in self.types:
            if name not in given and name not in self.optional:
                raise CallError(INVALID_PARAMETERS, f"{self.name} needs the parameter {name}")
        found = {}
        for name, value in given.items():
            if name not in self.types:
                raise CallError(INVALID_PARAMETERS, f"{self.name} has no parameter {printable(name)[:80]}")
            try:
                found[name] = msgspec.convert(value, self.types[name])
            except msgspec.ValidationError as problem:
                raise CallError(INVALID_PARAMETERS, f"{name}: {problem}") from None
        return found


class MethodCaller:
    """The methods of an application over its tables."""

    def __init__(self, application: Application, address: str) -> None:
        self.methods = {name: MethodSignature(name, each) for name, each in application.methods.items()}
        self._engine = open_readers(address)
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", _limit_time)

    def call(self, name: object, given: object) -> bytes:
        """The JSON of the result; on any thread. `CallError` where there is none."""
        method = self.methods.get(name) if isinstance(name, str) else None
        if method is None:
            raise CallError(NO_METHOD, "there is no such method: /openrpc.json has all")
        arguments = method.arguments(given)
        try:
            with self._engine.connect() as connection:
                result = method.function(connection, **arguments)
                answer = msgspec.json.encode(result, enc_hook=_plain)
        except CallError:
            raise
        except DBAPIError as problem:
            raise CallError(FAILED, f"{name}: {database_error_text(problem)}") from problem
        except (Exception, SystemExit, KeyboardInterrupt) as problem:  # whoever calls a method ends no program
            raise CallError(FAILED, f"{name}: {type(problem).__name__}: {reason_of(problem)}") from problem
        if len(answer) > LARGEST_ANSWER:
            raise CallError(FAILED, f"{name}: the answer has more than {LARGEST_ANSWER} bytes: ask for less")
        return answer

    def file_of(self, name: object) -> str:
        """The file in which a method stands, where that is known."""
        method = self.methods.get(name) if isinstance(name, str) else None
        code = getattr(method.function, "__code__", None) if method is not None else None
        return str(getattr(code, "co_filename", ""))

    def close(self) -> None:
        self._engine.dispose()


def _plain(value: object) -> object:
    """Rows of a query are objects by the names of their columns."""
    if isinstance(value, Row):
        return dict(value._mapping)  # noqa: SLF001 - SQLAlchemy's name for it
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _limit_time(raw: Any, _record: object) -> None:  # noqa: ANN401 - the driver's connection
    """PostgreSQL ends statements itself; SQLite asks. A connection is made for each call."""
    ends = time.monotonic() + READ_SECONDS
    raw.set_progress_handler(lambda: int(time.monotonic() > ends), STEPS)
