"""docs/signer.md, read from its beginning to its end by somebody who does what it says."""

from __future__ import annotations

import re
import stat
from configparser import RawConfigParser
from pathlib import Path

from ledgerd.node.config.configuration import read_configuration
from ledgerd.producer.signing.double_sign import FILE
from ledgerd.producer.signing.signer_place import SignerPlace, TlsFiles
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.signer.folder import SignerFolder
from tests.chain.networks import VIZ
from tests.docs.guides import DOCUMENTS, Reader, Step, steps_of
from tests.docs.ports import free_base
from tests.signer.test_planted_key import OWN_KEY, prepared

SOURCE = DOCUMENTS.parent / "src" / "ledgerd"
UNIT = DOCUMENTS.parent / "share" / "ledgerd" / "systemd" / "ledgerd-signer.service"
CONFIGURATION = f"""chain = testnet
plugin = validator
validator = "{VIZ}"
private-key-file = signing.key
enable-stale-production = true
required-participation = 0
shared-file-size = 64M
webserver-thread-pool-size = 1
"""


def make_validator(folder: Path) -> None:
    """A node that can make blocks, as docs/validators.md sets one up."""
    prepared(folder)
    (folder / "config.ini").write_text(CONFIGURATION)
    (folder / "signing.key").touch(0o600)
    (folder / "signing.key").write_text(f"{OWN_KEY.wif}\n")


def test_the_guide_leads_from_a_key_at_the_node_to_a_signer_elsewhere(tmp_path: Path) -> None:
    make_validator(tmp_path / "validator")
    steps = iter(steps_of("signer.md", {"20150": str(free_base() + 150)}))
    with Reader(tmp_path) as reader:
        before = reader.take(Step("sh background", "ledgerd --data-dir validator"))
        reader.wait_for(before, "Validated block")
        reader.take(next(steps))
        assert "exited cleanly" in (tmp_path / before).read_text()

        assert reader.take(next(steps)).startswith("VIZ")
        with SignerFolder(tmp_path / "signer") as kept:
            assert kept.record.block is not None
            kept.mark_clean()  # the guide waits for a round here
        signer = reader.take(next(steps))
        reader.wait_for(signer, "listens on unix:")
        told = reader.take(next(steps))
        assert f"validators: {VIZ}" in told
        assert "signs:      yes" in told

        assert "validator-signer = unix:" in reader.take(next(steps))
        node = reader.take(next(steps))
        reader.wait_for(node, "Validated block")
        assert "signed the slot" in (tmp_path / signer).read_text()
        assert "is there" in (tmp_path / node).read_text()

        assert "another signer uses the keys" in reader.take(next(steps))
        assert set(next(steps).text.split()) >= {"OPTIONS=--allow-user", "ledgerd"}

        reader.take(next(steps))
        assert stat.S_IMODE((tmp_path / "tls" / "node.key").stat().st_mode) == 0o600
        reader.take(next(steps))
        assert "stopped cleanly" in (tmp_path / signer).read_text()
        second = reader.take(next(steps))
        reader.wait_for(second, "listens on tls://")
        assert "signs:      yes" in reader.take(next(steps))
        assert_the_node_understands(tmp_path, next(steps))
        assert next(steps, None) is None
    assert (tmp_path / "signer" / FILE).exists()


def assert_the_node_understands(folder: Path, step: Step) -> None:
    file, data = folder / "tls.ini", folder / "validator"
    file.write_text('validator = "viz"\n' + step.text)
    access = read_configuration({"config-file": [str(file)], "data-dir": [str(data)]}, folder).validator.signer
    assert access is not None
    assert access.place == SignerPlace(endpoint=Endpoint("127.0.0.1", int(re.findall(r":(\d+)", step.text)[0])))
    names = ("node.pem", "node.key", "signer.pem")
    assert access.files == TlsFiles(*(data / ".." / "tls" / name for name in names))


def test_the_logs_say_what_the_guide_quotes() -> None:
    document = (DOCUMENTS / "signer.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^\| `([^`]+)`(?: \.\.\. `s apart`)? \|", document, re.MULTILINE)
    source = "".join(path.read_text() for room in ("producer", "signer") for path in (SOURCE / room).rglob("*.py"))

    assert len(quoted) == 7
    assert [words for words in quoted if words not in source] == []


def test_the_unit_confines_a_signer_and_is_told_what_the_guide_writes() -> None:
    unit = RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # the names of systemd have capitals
    unit.read(UNIT, encoding="utf-8")
    service = unit["Service"]

    words = service["ExecStart"].split()
    assert words[:2] == ["/usr/local/bin/ledgerd", "signer"]
    assert set(re.findall(r"\$\{?(\w+)", service["ExecStart"])) == {"VALIDATOR", "LISTEN", "OPTIONS"}
    guide = (DOCUMENTS / "signer.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^([A-Z]+)=", guide, re.MULTILINE)) == {"VALIDATOR", "LISTEN", "OPTIONS"}
    assert (service["User"], service["LimitCORE"], service["ProtectSystem"]) == ("ledgerd-signer", "0", "strict")
    assert service["CapabilityBoundingSet"] == ""
    state = service["Environment"].removeprefix("XDG_STATE_HOME=")
    assert state == service["WorkingDirectory"], "the lock on the key stands where the service may write"
    assert service["RuntimeDirectory"] in guide
