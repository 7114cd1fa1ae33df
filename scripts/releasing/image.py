"""The image for containers, as an archive that engines load (OCI image layout 1.0): what the Dockerfile describes, made
of Debian's packages and the assembled program without an engine, for any kind of machine.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tarfile import PAX_FORMAT, TarFile, TarInfo
from typing import Any

from scripts.build_program import PROGRAM, ROOT
from scripts.releasing.layers import MERGED, Blob, Layer, digest_of
from scripts.releasing.packages import Package, files_of
from scripts.releasing.wheels import Architecture

USER = 2001
DATA = f"/var/lib/{PROGRAM}"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
SECOND = 10**9

RUN = {
    "Env": [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONUNBUFFERED=1",
        "LEDGERD_TEMPLATE=config.ini",
        f"SSL_CERT_FILE={CERTIFICATES}",
    ],
    "Entrypoint": [f"{PROGRAM}-entry"],
    "Volumes": {DATA: {}},
    "ExposedPorts": {f"{port}/tcp": {} for port in (2001, 8090, 8091)},
    "StopSignal": "SIGTERM",
    "Healthcheck": {  # an addition of Docker's to the format
        "Test": ["CMD", f"{PROGRAM}-entry", "--check-health"],
        "Interval": 30 * SECOND,
        "Timeout": 10 * SECOND,
        "StartPeriod": 60 * SECOND,
        "Retries": 3,
    },
}
"""How containers are run. It starts as root, to make a volume of the host its own, and runs the node as its user."""

SYSTEM = {
    "etc/passwd": (
        "root:x:0:0:root:/root:/bin/sh\n"
        f"{PROGRAM}:x:{USER}:{USER}::{DATA}:/usr/sbin/nologin\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    ),
    "etc/group": f"root:x:0:\n{PROGRAM}:x:{USER}:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
"""What scripts of packages write where they are installed, as far as anybody here reads it."""


def base_layer(packages: list[Package], epoch: int) -> Layer:
    """The files of packages, and what their scripts would have done."""
    layer = Layer(epoch)
    for each in packages:
        layer.unpack(files_of(each))
    for name in MERGED:
        if f"usr/{name}" in layer.entries:
            layer.link(name, f"usr/{name}")
    for name in ("dev", "proc", "run", "sys"):
        layer.folder(name)
    for name in ("tmp", "var/tmp"):
        layer.folder(name, 0o1777)
    for name, text in SYSTEM.items():
        layer.file(name, text.encode())
    trusted = [
        content for path, (_, content) in sorted(layer.entries.items()) if path.startswith("usr/share/ca-certificates/")
    ]
    layer.file(CERTIFICATES.lstrip("/"), b"".join(trusted))
    installed = (each.control.replace("\n", "\nStatus: install ok installed\n", 1) for each in packages)
    layer.file("var/lib/dpkg/status", "\n".join(installed).encode())  # for those who look for known faults in images
    return layer


def program_layer(program: Path, epoch: int) -> Layer:
    """The program, its entry point, and the place that its user may write to."""
    layer = Layer(epoch)
    layer.tree(f"usr/local/lib/{PROGRAM}", program)
    layer.link(f"usr/local/bin/{PROGRAM}", f"../lib/{PROGRAM}/{PROGRAM}")
    entry = ROOT / "share" / PROGRAM / "container" / "entry.sh"
    layer.file(f"usr/local/bin/{PROGRAM}-entry", entry.read_bytes(), 0o755)
    layer.folder(DATA.lstrip("/"), owner=USER)
    return layer


def build_image(
    layers: list[Layer], file: Path, architecture: Architecture, release: tuple[str, str, int], level: int
) -> None:
    """Write the archive of an image; `release` is the version, the commit and its time."""
    version, revision, epoch = release
    created = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    blobs = [each.write(level) for each in layers]
    labels = {
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.licenses": "MIT",
        "org.opencontainers.image.revision": revision,
        "org.opencontainers.image.title": PROGRAM,
        "org.opencontainers.image.version": version,
    }
    platform = {"architecture": architecture.debian, "os": "linux"}
    config: dict[str, Any] = {
        "created": created,
        **platform,
        "config": {**RUN, "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [each.diff_id for each in blobs]},
        "history": [{"created": created, "comment": what} for what in ("packages of Debian", f"{PROGRAM} {version}")],
    }
    write_layout(file, config, blobs, f"{PROGRAM}:{version}", platform)


def write_layout(file: Path, config: dict[str, Any], layers: list[Blob], name: str, platform: dict[str, str]) -> None:
    """Write the files of a layout in order, all of one time."""
    parts: dict[str, bytes] = {}

    def kept(content: bytes, kind: str) -> dict[str, Any]:
        digest = digest_of(content)
        parts[_place(digest)] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest, "size": len(content)}

    described = kept(_json(config), "config.v1+json")
    packed = [kept(each.content, "layer.v1.tar+gzip") for each in layers]
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described,
        "layers": packed,
    }
    named = {"platform": platform, "annotations": {"org.opencontainers.image.ref.name": name}}
    listed = {**kept(_json(manifest), "manifest.v1+json"), **named}
    parts["index.json"] = _json({"schemaVersion": 2, "manifests": [listed]})
    parts["oci-layout"] = _json({"imageLayoutVersion": "1.0.0"})
    places = [_place(each["digest"]) for each in packed]
    docker = {"Config": _place(described["digest"]), "RepoTags": [name], "Layers": places}
    parts["manifest.json"] = _json([docker])  # what `docker load` looks for
    with TarFile(file, "w", format=PAX_FORMAT) as archive:
        for path, content in sorted(parts.items()):
            entry = TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, BytesIO(content))


def _place(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
