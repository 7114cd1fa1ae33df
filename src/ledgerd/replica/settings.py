"""Where a node sends the changes of its state, and where a replica gets them."""

from __future__ import annotations

from ledgerd.basics.addresses import is_loopback
from ledgerd.producer.signing.signer_place import CertifiedPlace, PlaceFault, SignerPlace, read_place

_SCHEME = "tcp://"
LOCAL_NAME = "localhost"


class StreamSettings(CertifiedPlace, frozen=True):
    """A Unix socket, or a host and a port, and what is shown there; nothing if no changes are sent."""

    @property
    def fault(self) -> str:
        """The fault of the options together; empty if there is none."""
        given = [each for each in (self.certificate, self.certificate_key, self.authority) if each is not None]
        if self.place is None:
            return "the certificates are for a place, and none is named" if given else ""
        if self.place.path is not None:
            return "a Unix socket needs no certificates" if given else ""
        if given and self.files is None:
            return "the certificate, its key and the authority belong together"
        if not given and not is_of_this_machine(self.place):
            return "without certificates it must be an address of this machine, as tcp://127.0.0.1:8095"
        return ""

    def __str__(self) -> str:
        if self.place is None:
            return "nowhere"
        return f"unix:{self.place.path}" if self.place.path is not None else f"{_SCHEME}{self.place.endpoint}"


def is_of_this_machine(place: SignerPlace) -> bool:
    if place.endpoint is None:
        return True
    host = place.endpoint.host
    return is_loopback(host) or host == LOCAL_NAME


def read_stream_place(text: str) -> SignerPlace:
    """The place of a text, `unix:/path` or `tcp://host:port`. `PlaceFault`: it is neither."""
    try:
        if text.startswith("unix:/"):
            return read_place(text)
        if text.startswith(_SCHEME):
            return read_place(f"tls://{text.removeprefix(_SCHEME)}")
    except PlaceFault as fault:
        if text.startswith("unix:/"):
            raise PlaceFault(str(fault)) from None
    raise PlaceFault("is neither unix:/PATH nor tcp://HOST:PORT")
