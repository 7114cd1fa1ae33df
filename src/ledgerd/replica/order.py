"""The orders of the processes that serve replicas, and that follow a node: main processes import this alone."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.replica.settings import StreamSettings, read_stream_place


class _StreamOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Where changes are sent, and the files of certificates, as a process gets them."""

    place: str
    files: tuple[str, str, str] | None
    """Certificate, its key, and the authority."""
    log_format: str = "text"

    @property
    def settings(self) -> StreamSettings:
        return StreamSettings(read_stream_place(self.place), *map(Path, self.files or ()))


class ServerOrder(_StreamOrder, frozen=True):
    """The files that are served, and the address."""

    state: str
    logs: str
    archive: str

    @classmethod
    def of(
        cls, state: Path, logs: Path, archive: Path, settings: StreamSettings, log_format: str = "text"
    ) -> ServerOrder:
        folders = str(state), str(logs), str(archive)
        return cls(*folders, place=str(settings), files=_names(settings), log_format=log_format)


class FollowOrder(_StreamOrder, frozen=True):
    """Whom a replica follows, and where it is kept."""

    data_dir: str
    chain_id: bytes

    @classmethod
    def of(cls, data_dir: Path, chain_id: bytes, settings: StreamSettings, log_format: str = "text") -> FollowOrder:
        return cls(str(data_dir), chain_id, place=str(settings), files=_names(settings), log_format=log_format)


def _names(settings: StreamSettings) -> tuple[str, str, str] | None:
    tls = settings.files
    return None if tls is None else (str(tls.certificate), str(tls.certificate_key), str(tls.authority))
