"""Settings of the metrics."""

from __future__ import annotations

import msgspec

from ledgerd.protocol.endpoint import Endpoint


class MetricsSettings(msgspec.Struct, frozen=True):
    """The options of the metrics; without an endpoint nothing is counted."""

    endpoint: Endpoint | None
