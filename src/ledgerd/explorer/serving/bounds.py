"""What one visitor, and all of them together, can make grow. An address of IPv6 counts as its /64."""

from __future__ import annotations

MOST_CONNECTIONS = 512
"""Connections of all visitors."""
CONNECTIONS_OF_ADDRESS = 32
"""Connections of one address."""
STREAMS_OF_ADDRESS = 8
"""Open pages that are kept at the head; a further one stands as it was drawn."""
DOWNLOADS_OF_ADDRESS = 2
"""Downloads of one address at a time."""
REQUESTS_A_SECOND = 40.0
"""Requests a second of one address, which may also come all at once."""
BYTES_A_SECOND = 4_194_304.0
"""Sent to an address, with as many at once; a download waits, a page is refused."""
HEADER_BYTES = 16_384
"""Bytes of a request's head."""
UNREAD_BYTES = 67_108_864
"""The most bytes of answers that visitors have not read yet, of all visitors together."""
REQUEST_SECONDS = 10.0
"""The longest time from the first byte of a request to its last."""
IDLE_SECONDS = 60.0
WRITE_SECONDS = 30.0
"""The time in which a visitor has to read some of its answer."""
PING_SECONDS = 20.0
"""The pause between two heartbeats to an open page."""
