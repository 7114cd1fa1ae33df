"""Addresses with ports, as options give them, and the kinds of values that hold them (spec 06, 5.3-5.5, 5.7)."""

from __future__ import annotations

import re

from ledgerd.basics.addresses import NONE, PRIVATE, network_of
from ledgerd.node.config.values.kind import Argument, OptionKind, WrongValue
from ledgerd.protocol.types.endpoint import LARGEST_PORT, Endpoint

NTP_PORT = 123
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+)(:[0-9]{1,5})?/?")

_PORT = re.compile(r"[0-9]{1,5}")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?\.?")


def _is_numeric(host: str) -> bool:
    from ipaddress import ip_address  # noqa: PLC0415 - loaded when an address is read

    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _split(text: str) -> tuple[str, str]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        raise WrongValue(f'Missing required port number in endpoint string "{text}"')
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        if not (":" in host and _is_numeric(host)):
            raise WrongValue(f"has no IPv6 address in its brackets: {host}")
    elif ":" in host:
        raise WrongValue("is an IPv6 address without the square brackets that set its port apart")
    elif re.fullmatch(r"[0-9.]+", host):
        if not _is_numeric(host):
            raise WrongValue(f"has no IPv4 address before its port: {host}")
    elif not _HOST.fullmatch(host):
        raise WrongValue(f"has no host name before its port: {host}" if host else "has no host before its port")
    return host, port


def _read_port(text: str, least: int) -> int:
    if not _PORT.fullmatch(text) or not least <= int(text) <= LARGEST_PORT:
        raise WrongValue(f"Bad port: {text}")
    return int(text)


def _read_endpoint(text: str) -> Endpoint:
    host, port = _split(text)
    return Endpoint(host, _read_port(port, 0))


def read_peer(text: str) -> Endpoint:
    host, port = _split(text)
    return Endpoint(host, _read_port(port, 1))


def _read_numeric(text: str) -> Endpoint:
    endpoint = _read_endpoint(text)
    if not _is_numeric(endpoint.host):
        raise WrongValue(f"names the host {endpoint.host}, where only a numeric address can be listened on")
    return endpoint


def _read_ntp_server(text: str) -> Endpoint:
    """A port that is missing or wrong is the usual one, as in the reference."""
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = text, ""
    if not host or not _HOST.fullmatch(host):
        raise WrongValue("names no host")
    try:
        return Endpoint(host, _read_port(port, 1))
    except WrongValue:
        return Endpoint(host, NTP_PORT)


def _read_address(text: str) -> str:
    if not _is_numeric(text):
        raise WrongValue("is not an IP address")
    return text


def _read_network(text: str) -> str:
    from ipaddress import ip_network  # noqa: PLC0415 - as above

    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        raise WrongValue("is neither an IP address nor a network") from None


def _read_origin(text: str) -> str:
    if text != "*" and not _ORIGIN.fullmatch(text):
        raise WrongValue("is no origin of a page, as https://wallet.example or http://127.0.0.1:3000")
    return text


ENDPOINT = OptionKind("HOST:PORT", "a host, by name or by number, and a port", "127.0.0.1:8090", _read_endpoint)
PEER = OptionKind("HOST:PORT", "a host, by name or by number, and a port from 1", "seed.example.org:2001", read_peer)
LISTENING = OptionKind("ADDRESS:PORT", "an IP address of this machine and a port", "0.0.0.0:2001", _read_numeric)
P2P_LISTENING = OptionKind(
    LISTENING.word,
    LISTENING.takes,
    LISTENING.example,
    _read_numeric,
    argument=Argument.OPTIONAL,
    bare="127.0.0.1:9876",
)
NTP_SERVER = OptionKind("HOST[:PORT]", f"a host and a port, by default {NTP_PORT}", "pool.ntp.org", _read_ntp_server)
NETWORK = OptionKind("ADDRESS[/BITS]", "an IP address, or a network of them", "192.0.2.0/24", _read_network)
ORIGIN = OptionKind("ORIGIN", "scheme, host and port of a page, or * for all", "https://wallet.example", _read_origin)
ADDRESS = OptionKind("ADDRESS", "an IP address", "192.0.2.7", _read_address)


def _read_exempt(text: str) -> str:
    if text in (PRIVATE, NONE):
        return text
    try:
        return str(network_of(text))
    except ValueError:
        raise WrongValue(f"is no network, {PRIVATE} or {NONE}: {text}") from None


EXEMPT = OptionKind("NETWORK", f"a network as 10.0.0.0/8, {PRIVATE} or {NONE}", "10.0.0.0/8", _read_exempt)
