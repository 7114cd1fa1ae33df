"""Layers of an image: archives of files that are the same bytes wherever they are written, and by whomever."""

from __future__ import annotations

import hashlib
import re
import zlib
from io import BytesIO
from pathlib import Path, PurePosixPath
from tarfile import DIRTYPE, PAX_FORMAT, REGTYPE, SYMTYPE, TarFile, TarInfo
from typing import NamedTuple

from scripts.build_program import BuildError

MERGED = ("bin", "lib", "lib64", "sbin")
"""Folders of the root that are links to those in /usr, whatever a package says."""

NOT_TAKEN = re.compile(r"usr/share/(doc|info|lintian|locale|man)/")
KEPT = re.compile(r"usr/share/doc/[^/]+(/copyright)?")
SET_ID = 0o6000
"""Nobody in a container is to become somebody else by a program's owner."""


class Blob(NamedTuple):
    """A layer as it is kept: compressed."""

    content: bytes
    diff_id: str
    """The digest of what is compressed, which an image names too."""


class Layer:
    """The files of a layer by their paths, all of one time."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.entries: dict[str, tuple[TarInfo, bytes]] = {}

    def folder(self, path: str, mode: int = 0o755, owner: int = 0) -> None:
        """Add a folder."""
        self._put(path, DIRTYPE, mode, owner=owner)

    def file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Add a file of root's."""
        self._put(path, REGTYPE, mode, content)

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._put(path, SYMTYPE, 0o777, target=target)

    def tree(self, path: str, folder: Path) -> None:
        """Add all that a folder has."""
        for each in folder.rglob("*"):
            inside = f"{path}/{each.relative_to(folder).as_posix()}"
            if each.is_symlink():
                self.link(inside, str(each.readlink()))
            elif each.is_dir():
                self.folder(inside)
            else:
                self.file(inside, each.read_bytes(), each.stat().st_mode & 0o777)

    def unpack(self, archive: bytes) -> None:
        """Add the files of a package, without its pages for people, where a system has them whose /usr is merged."""
        with TarFile(fileobj=BytesIO(archive)) as files:
            for each in files:
                path = PurePosixPath(each.name).as_posix()
                if path in {".", *MERGED}:
                    continue
                if path.partition("/")[0] in MERGED:
                    path = f"usr/{path}"
                if NOT_TAKEN.match(path) and not KEPT.fullmatch(path):
                    continue
                if each.isdir():
                    self._put(path, DIRTYPE, each.mode, owner=each.uid, group=each.gid)
                elif each.issym():
                    self.link(path, each.linkname)
                elif content := files.extractfile(each):  # of a hard link, what it leads to
                    self._put(path, REGTYPE, each.mode, content.read(), owner=each.uid, group=each.gid)
                else:
                    raise BuildError(f"{path} is no file, folder or link")

    def _put(
        self,
        path: str,
        kind: bytes,
        mode: int,
        content: bytes = b"",
        *,
        target: str = "",
        owner: int = 0,
        group: int | None = None,
    ) -> None:
        entry = TarInfo(path)
        entry.type, entry.mode, entry.size, entry.linkname = kind, mode & ~SET_ID, len(content), target
        entry.uid, entry.gid, entry.mtime = owner, owner if group is None else group, self.epoch
        self.entries[path] = entry, content
        for above in map(str, PurePosixPath(path).parents):
            if above != "." and above not in self.entries:
                self.folder(above)

    def write(self, level: int) -> Blob:
        """The layer, its files in order."""
        plain = BytesIO()
        with TarFile(fileobj=plain, mode="w", format=PAX_FORMAT) as archive:
            for _, (entry, content) in sorted(self.entries.items()):
                archive.addfile(entry, BytesIO(content))
        packer = zlib.compressobj(level, wbits=31)  # gzip, without a name or a time
        packed = packer.compress(plain.getbuffer()) + packer.flush()
        return Blob(packed, digest_of(plain.getbuffer()))


def digest_of(content: bytes | memoryview) -> str:
    """As images name their parts."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
