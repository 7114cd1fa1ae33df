"""The options of the changes of the state, which replicas on other machines follow."""

from __future__ import annotations

from msgspec.structs import replace

from ledgerd.node.config.options.declaration import Option, OptionSection, Surroundings, WrongTogether
from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.node.config.values.values import PATH
from ledgerd.producer.signer_place import PlaceFault, SignerPlace
from ledgerd.replica.settings import StreamSettings, read_stream_place

ENDPOINT = "state-stream-endpoint"


def _read(text: str) -> SignerPlace:
    try:
        return read_stream_place(text)
    except PlaceFault as fault:
        raise WrongValue(str(fault)) from None


def _complete(record: StreamSettings, surroundings: Surroundings) -> StreamSettings:
    if record.fault:
        raise WrongTogether(ENDPOINT, record.fault)
    given = {name: getattr(record, name) for name in ("certificate", "certificate_key", "authority")}
    return replace(record, **{name: surroundings.data_dir / path for name, path in given.items() if path is not None})


def _show(place: SignerPlace) -> str:
    return str(StreamSettings(place))


STREAM_PLACE = OptionKind("PLACE", "unix:/PATH or tcp://HOST:PORT", "tcp://127.0.0.1:8095", _read, _show)

STATE_STREAM = OptionSection(
    "state_stream",
    "Changes of the state, for replicas (ledgerd api --follow) on this machine or others; docs/replicas.md.",
    StreamSettings,
    (
        Option(
            ENDPOINT,
            STREAM_PLACE,
            "Send the changes of every commit there. Without certificates it is a Unix socket or an address of this "
            "machine; with them, both sides show one. Off by default: then nothing is kept or computed for it.",
            ours=True,
            field="place",
        ),
        Option(
            "state-stream-certificate",
            PATH,
            "The certificate that this node shows to replicas, relative to the data directory.",
            ours=True,
            example="stream.pem",
            field="certificate",
        ),
        Option(
            "state-stream-certificate-key",
            PATH,
            "The key of that certificate. Only its owner should be able to read it.",
            ours=True,
            example="stream.key",
            field="certificate_key",
        ),
        Option(
            "state-stream-authority",
            PATH,
            "The certificate that replicas must show, or that of the authority which has signed it.",
            ours=True,
            example="replicas.pem",
            field="authority",
        ),
    ),
    complete=_complete,
)
