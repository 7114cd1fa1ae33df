"""Settings of JSON-RPC: endpoints, worker processes, cache and limits (spec 06, section 5.4)."""

from __future__ import annotations

import msgspec

from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.rpc.call.limits import Limits


class WebserverSettings(msgspec.Struct, frozen=True):
    """The options of the webserver; an endpoint that is None is not served."""

    http_endpoint: Endpoint | None
    ws_endpoint: Endpoint | None
    rpc_endpoint: Endpoint | None
    thread_pool_size: int
    cache_enabled: bool
    cache_size: int
    broadcasts_while_syncing: bool
    simulates_transactions: bool
    limits: Limits

    @property
    def cached_answers(self) -> int:
        return self.cache_size if self.cache_enabled else 0
