"""What the process that serves replicas is told: the main process imports this alone."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.replica.settings import StreamSettings, read_stream_place


class ServerOrder(msgspec.Struct, frozen=True):
    """What is served, and where, as it is told to a process."""

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
        """The order for these folders and settings."""
        tls = settings.files
        files = None if tls is None else (str(tls.certificate), str(tls.certificate_key), str(tls.authority))
        return cls(str(state), str(logs), str(archive), str(settings), files, log_format)

    @property
    def settings(self) -> StreamSettings:
        """Where replicas are served."""
        return StreamSettings(read_stream_place(self.place), *map(Path, self.files or ()))
