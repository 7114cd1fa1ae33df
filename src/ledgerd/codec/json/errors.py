"""The refusal of a JSON text or value, with the layers that the reference's answer to the client lists.

The innermost layer is the fault; each caller that the fault passes may add one (spec 05, 6.2 and 6.3).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Self

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json.text import bare_text, dumps

_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")


class Layer(NamedTuple):
    """One entry of the stack that a client is shown: a format, and the values it names."""

    format: str
    data: dict[str, Any]

    @property
    def text(self) -> str:
        """The format with its values; a name without a value stays as it is."""

        def fill(match: re.Match[str]) -> str:
            if match[1] not in self.data:
                return match[0]
            value = self.data[match[1]]
            return dumps(value) if isinstance(value, list | dict) else bare_text(value)

        return _PLACEHOLDER.sub(fill, self.format)


class JsonError(DecodeError):
    """A JSON text or value that the reference refuses; the text is that of the innermost layer."""

    def __init__(self, code: int, layout: str, data: dict[str, Any] | None = None) -> None:
        innermost = Layer(layout, data or {})
        super().__init__(innermost.text, code)
        self.layers = [innermost]

    def under(self, layout: str, data: dict[str, Any] | None = None) -> Self:
        """Add the layer of a caller that the fault passes."""
        self.layers.append(Layer(layout, data or {}))
        return self

    @property
    def log(self) -> str:
        """The text of every layer, each with its line end: the message's part after `WHAT (CODE)`."""
        return "".join(f"{layer.text}\n" for layer in self.layers)
