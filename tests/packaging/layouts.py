"""Reads an archive of an image, each part held to its digest and to what the format of such archives asks for."""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

KIND = "application/vnd.oci.image."


class Layout(NamedTuple):
    """What an engine reads."""

    name: str
    platform: dict[str, str]
    config: dict[str, Any]
    layers: list[bytes]
    """Uncompressed."""

    def unpack(self, root: Path) -> None:
        """Put the files of all layers into a folder, with their owners."""
        for layer in self.layers:
            with tarfile.open(fileobj=BytesIO(layer)) as archive:
                archive.extractall(root, numeric_owner=True, filter="tar")

    def environment(self) -> dict[str, str]:
        """The variables that a container has."""
        return dict(each.split("=", 1) for each in self.config["config"]["Env"])


def read_layout(file: Path) -> Layout:
    """Read an archive; nothing is in it that nothing names."""
    with tarfile.open(file) as archive:
        parts = {each.name: _content(archive, each) for each in archive}
    seen = {"oci-layout", "index.json", "manifest.json"}

    def named(what: dict[str, Any], kind: str) -> bytes:
        path = f"blobs/{what['digest'].replace(':', '/')}"
        content = parts[path]
        seen.add(path)
        assert what["mediaType"] == KIND + kind
        assert what["size"] == len(content)
        assert what["digest"] == _digest(content)
        return content

    assert json.loads(parts["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads(parts["index.json"])
    (described,) = index["manifests"]
    manifest = json.loads(named(described, "manifest.v1+json"))
    assert manifest["mediaType"] == described["mediaType"]
    assert {index["schemaVersion"], manifest["schemaVersion"]} == {2}
    config = json.loads(named(manifest["config"], "config.v1+json"))
    layers = [gzip.decompress(named(each, "layer.v1.tar+gzip")) for each in manifest["layers"]]
    assert config["rootfs"] == {"type": "layers", "diff_ids": [_digest(layer) for layer in layers]}
    assert len(config["history"]) == len(layers)
    name = described["annotations"]["org.opencontainers.image.ref.name"]
    (docker,) = json.loads(parts["manifest.json"])
    assert docker["RepoTags"] == [name]
    paths = [f"blobs/{each['digest'].replace(':', '/')}" for each in (manifest["config"], *manifest["layers"])]
    assert [docker["Config"], *docker["Layers"]] == paths
    assert parts.keys() == seen
    return Layout(name, described["platform"], config, layers)


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    assert entry.isreg()
    file = archive.extractfile(entry)
    assert file is not None
    return file.read()
