"""The orders of the processes that serve replicas, and that follow a node: main processes import this alone."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.replica.settings import StreamSettings, read_stream_place


class ServerOrder(msgspec.Struct, frozen=True):
    """What is served, and where, as a process gets it."""

    state: str
    logs: str
    archive: str
    place: str
    files: tuple[str, str, str] | None
    """Certificate, its key, and the authority."""
    log_format: str = "text"

    @classmethod
    def of(
        cls, state: Path, logs: Path, archive: Path, settings: StreamSettings, log_format: str = "text"
    ) -> ServerOrder:
        return cls(str(state), str(logs), str(archive), str(settings), _names(settings), log_format)

    @property
    def settings(self) -> StreamSettings:
        return StreamSettings(read_stream_place(self.place), *map(Path, self.files or ()))


class FollowOrder(msgspec.Struct, frozen=True):
    """Whom a replica follows, and where it is kept."""

    data_dir: str
    chain_id: bytes
    place: str
    files: tuple[str, str, str] | None
    log_format: str = "text"

    @classmethod
    def of(cls, data_dir: Path, chain_id: bytes, settings: StreamSettings, log_format: str = "text") -> FollowOrder:
        return cls(str(data_dir), chain_id, str(settings), _names(settings), log_format)

    @property
    def settings(self) -> StreamSettings:
        return StreamSettings(read_stream_place(self.place), *map(Path, self.files or ()))


def _names(settings: StreamSettings) -> tuple[str, str, str] | None:
    tls = settings.files
    return None if tls is None else (str(tls.certificate), str(tls.certificate_key), str(tls.authority))
