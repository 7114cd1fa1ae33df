"""What one visitor, and all of them together, can make grow. An address of IPv6 counts as its /64."""

from __future__ import annotations

MOST_CONNECTIONS = 512
CONNECTIONS_OF_ADDRESS = 32
STREAMS_OF_ADDRESS = 8
"""Open pages that are kept at the head; a further one stands as it was drawn."""
DOWNLOADS_OF_ADDRESS = 2
REQUESTS_A_SECOND = 40.0
"""Of an address, with as many at once."""
BYTES_A_SECOND = 4_194_304.0
"""Sent to an address, with as many at once; a download waits, a page is refused."""
HEADER_BYTES = 16_384
UNREAD_BYTES = 67_108_864
"""Of answers that visitors have not taken, of all together."""
REQUEST_SECONDS = 10.0
"""From the first byte of a request to its last."""
IDLE_SECONDS = 60.0
WRITE_SECONDS = 30.0
"""For a visitor to take some of its answer."""
PING_SECONDS = 20.0
"""Between two signs of life to an open page."""
