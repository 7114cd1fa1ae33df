"""What the processes around a plugin say to each other, in frames: the node, its API workers, and the plugin's own."""

from __future__ import annotations

from typing import Any

import msgspec

from ledgerd.basics.framing.frames import framed

MOST_ORDER = 1 << 20
"""Bytes of the first message to the process of a plugin."""
MOST_REPORT = 1 << 20
"""Bytes of a report of the process."""
MOST_DESCRIPTION = MOST_REPORT // 2
"""Bytes of the description of an API."""
MOST_REQUEST = 1 << 20
"""Bytes of a request to a plugin."""
MOST_ANSWER = 16 << 20
"""Bytes of an answer, whatever `webserver-max-answer-size` allows."""
MOST_OPEN = 64
"""Unanswered requests of an API worker to one plugin."""

API_TIMEOUT = 10.0
"""Seconds without a report after which a process that serves an API is killed: its methods have less."""
OBSERVER_TIMEOUT = 120.0
"""Seconds without a report after which an observer is taken to hang: it may need so long for one block."""


class PluginOrder(msgspec.Struct, frozen=True):
    """The first message to the process of a plugin."""

    name: str
    folder: str
    settings: msgspec.Raw
    """The settings of an API worker, encoded: only the process of the plugin knows their type."""
    limits: msgspec.Raw
    log_format: str
    is_checked: bool = False
    """Whether it is only to be seen if the plugin can be loaded."""


class MethodDescription(msgspec.Struct, frozen=True):
    """A method as clients are told of it: a method object of OpenRPC."""

    name: str
    described: dict[str, Any]


class PluginDescription(msgspec.Struct, frozen=True):
    """An API as clients are told of it."""

    summary: str
    methods: tuple[MethodDescription, ...]
    schemas: dict[str, Any]
    """The schemas of its records, by their names in the document."""


class PluginReport(msgspec.Struct, frozen=True):
    """The report of the process of a plugin: sent as soon as it works, and then again and again."""

    refused: str = ""
    """Why it need not be started again."""
    rests: str = ""
    """Why there is nothing for it to do here, which is no fault."""
    problem: str = ""
    """Why it ends."""
    works: bool = False
    """Whether it has done something since its start that it could fail at."""
    api: PluginDescription | None = None
    port: int = 0
    token: str = ""
    position: int = 0
    """The last block that an observer is done with."""
    behind: int = 0
    timeout: float = API_TIMEOUT
    api_version: str = ""


class ServedApi(msgspec.Struct, frozen=True):
    """The API of a plugin, for API workers. Without a port its process is not there now."""

    name: str
    note: PluginDescription
    port: int
    token: str


class MethodRequest(msgspec.Struct, frozen=True):
    """A request of a client."""

    method: str
    params: list[msgspec.Raw]
    share: str
    most: int
    """Bytes of the answer."""


class MethodAnswer(msgspec.Struct, frozen=True):
    """The answer of a method: the result, or an error for the client, with a code."""

    result: msgspec.Raw = msgspec.Raw(b"null")
    code: int | None = None
    message: str = ""
    data: str = ""
    is_fault: bool = False
    """Whether the plugin is at fault, and not the client."""


def packed(message: msgspec.Struct) -> bytes:
    return framed(msgspec.json.encode(message))
