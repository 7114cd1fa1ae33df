"""Every API that this program has, and the names of all their methods: the values that the label `method` can have."""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.rpc.api.history.state_api import STATE_API
from ledgerd.rpc.api.node.dev_api import DEV_API
from ledgerd.rpc.api.node.node_api import NODE_API
from ledgerd.rpc.call.declarations import Api, every_method_of

EVERY_API: tuple[Api, ...] = (*APIS, ACCOUNT_HISTORY, OPERATION_HISTORY, HISTORY_API, STATE_API, NODE_API, DEV_API)


def known_methods() -> tuple[str, ...]:
    """The methods of all APIs, as `api.method`: alike in all processes of a node."""
    return tuple(dict.fromkeys(method.full_name for api in EVERY_API for method in api))


def counted_methods(plugins: Iterable[str]) -> tuple[str, ...]:
    """The methods as `known_methods`, and one name for all methods of each plugin of others, whose process alone knows
    them.
    """
    return (*known_methods(), *map(every_method_of, plugins))
