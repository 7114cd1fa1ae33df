"""The image's entry script and the node behind it, in containers without an engine: variables, volumes, signals."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.packaging.container import Container
from tests.packaging.image import Builder

CONFIGURATIONS = "usr/local/lib/ledgerd/share/ledgerd/config"
VOLUME = "/var/lib/ledgerd"
KEY = "5JVFFWRLwz6JoP9kguuRFfytToGU6cLgBVTL9t6NB3D3BQLbUBS"
USER = 2001
OPERATOR = 1000

Run = Callable[..., Container]


@pytest.fixture
def volume() -> object:
    """A directory of the host, which was made by one of its users."""
    with TemporaryDirectory() as text:
        folder = Path(text)
        folder.chmod(0o755)
        os.chown(folder, OPERATOR, OPERATOR)
        yield folder


@pytest.fixture
def run(images: Builder, volume: Path, tmp_path: Path) -> Run:
    """Start a container of an image as `docker run` does, with the volume."""

    def start(*words: str, image: str = "latest", before: tuple[str, ...] = (), **variables: str) -> Container:
        built = images.build(image)
        return Container(
            tmp_path,
            built.base,
            built.layers,
            [*before, *built.entrypoint, *words],
            environment={**built.environment, **variables},
            volumes={
                VOLUME: volume,
                **({ETC: tmp_path / "mounted.ini"} if (tmp_path / "mounted.ini").exists() else {}),
            },
        )

    return start


ETC = "/etc/ledgerd/config.ini"


def understood(container: Container) -> list[str]:
    """What `--check-config` prints: an option a line."""
    with container:
        assert container.wait() == 0, container.log
    return [line.partition("    [")[0].strip() for line in container.out]


def template(images: Builder, name: str) -> bytes:
    return (images.build("latest").layers[-1] / CONFIGURATIONS / name).read_bytes()


def test_a_full_node_runs_on_a_volume_of_somebody_else(run: Run, volume: Path, images: Builder) -> None:
    with run() as node:
        node.wait_for("start listening for ws requests")
        assert node.head() == 0
        assert {"0.0.0.0:2001", "0.0.0.0:8090", "0.0.0.0:8091"} <= node.listeners()
        assert node.ask("127.0.0.1:8090", "/health")[0] == 200
        assert node.run(*images.build("latest").health).returncode == 0

        status = Path(f"/proc/{node.first}/status").read_text().splitlines()
        told = dict(line.split(":\t", 1) for line in status if ":\t" in line)
        assert told["Uid"].split() == told["Gid"].split() == [str(USER)] * 4
        assert told["CapEff"] == told["CapPrm"] == told["CapInh"] == "0" * 16
        assert told["NoNewPrivs"] == "1"
        assert node.stop(signal.SIGTERM) == 0

    assert "exited cleanly" in node.out[-1]
    assert node.err == []
    assert (volume / "config.ini").read_bytes() == template(images, "config.ini")
    assert {path.stat().st_uid for path in (volume, *volume.rglob("*"))} == {USER}


def test_a_testnet_node_makes_blocks_and_goes_on_after_a_restart(run: Run) -> None:
    with run(image="testnet") as node:
        node.wait_for("Validated block #1 ")
        head = node.head()
        assert head >= 1
        assert node.stop(signal.SIGINT) == 0
    with run(image="testnet") as node:
        node.wait_for("Validated block #")
        assert node.head() > head
        assert node.stop(signal.SIGTERM) == 0

    assert not any("is made from" in line for line in node.out)


def test_a_validator_serves_itself_alone_and_keeps_its_key_to_itself(run: Run, volume: Path, images: Builder) -> None:
    with run(NODE_WITNESS="alice", NODE_PRIVATE_KEY=KEY) as node:
        node.wait_for("start listening for ws requests")
        assert node.head() == 0
        assert {each for each in node.listeners() if each.endswith(("8090", "8091"))} == {
            "127.0.0.1:8090",
            "127.0.0.1:8091",
        }
        assert node.run(*images.build("latest").health).returncode == 0
        lines = node.run("sh", "-c", "cat /proc/[0-9]*/cmdline").stdout
        assert "--environment" in lines
        assert KEY not in lines
        worker = node.run("sh", "-c", "grep -l ledgerd.rpc.worker /proc/[0-9]*/cmdline").stdout.split()[0]
        assert KEY not in node.run("cat", worker.replace("cmdline", "environ")).stdout
        assert node.stop(signal.SIGTERM) == 0

    assert KEY not in node.log
    assert (volume / "config.ini").read_bytes() == template(images, "config_witness.ini")
    assert (volume / "config.ini").stat().st_mode & 0o077 == 0
    assert all(KEY.encode() not in path.read_bytes() for path in volume.rglob("*") if path.is_file())


def test_a_key_that_is_none_ends_the_start_without_being_repeated(run: Run) -> None:
    with run(NODE_WITNESS="alice", NODE_PRIVATE_KEY="5notakey") as node:
        assert node.wait() == 2

    assert any(
        line.startswith("ledgerd: environment: NODE_PRIVATE_KEY: is not a private key in WIF") for line in node.out
    )
    assert "5notakey" not in node.log


def test_the_variables_of_a_validator_are_read(run: Run) -> None:
    lines = understood(run("--check-config", NODE_WITNESS=" alice ", NODE_PRIVATE_KEY=KEY))

    assert 'validator = "alice"' in lines
    assert any(line.startswith("private-key = (the private key of VIZ") for line in lines)
    assert "webserver-http-endpoint = 127.0.0.1:8090" in lines


def test_a_validator_of_the_testnet_image_stays_on_the_testnet(run: Run) -> None:
    lines = understood(run("--check-config", image="testnet", NODE_WITNESS="alice"))

    assert "chain = testnet" in lines
    assert 'validator = "committee" "alice"' in lines


@pytest.mark.parametrize(
    ("given", "seeds"),
    [
        ("one.example:2001", "one.example:2001"),
        ("one.example:2001,192.0.2.7:2001", "one.example:2001 192.0.2.7:2001"),
        (
            " one.example:2001 ,\n two.example:2001 three.example:4243 ",
            "one.example:2001 two.example:2001 three.example:4243",
        ),
    ],
)
def test_seeds_of_the_environment_take_the_place_of_those_of_the_file(run: Run, given: str, seeds: str) -> None:
    assert f"p2p-seed-node = {seeds}" in understood(run("--check-config", NODE_SEED_NODES=given))


def test_empty_variables_are_as_if_they_were_not_there(run: Run, images: Builder) -> None:
    lines = understood(run("--check-config", NODE_SEED_NODES=" ", NODE_WITNESS="", NODE_PRIVATE_KEY=""))

    told = next(line for line in lines if line.startswith("p2p-seed-node = "))
    assert told.split()[2:] == [
        line.split()[2] for line in template(images, "config.ini").decode().splitlines() if line.startswith("p2p-seed")
    ]
    assert "webserver-http-endpoint = 0.0.0.0:8090" in lines


def test_a_configuration_that_was_edited_is_never_written_over(run: Run, volume: Path) -> None:
    mine = b"# mine\nplugin = validator\nwebserver-http-endpoint = 127.0.0.1:1234\n"
    (volume / "config.ini").write_bytes(mine)

    with run("--check-config", NODE_WITNESS="alice") as container:
        assert container.wait() == 0

    assert (volume / "config.ini").read_bytes() == mine
    assert "is used as it is: see to it that its RPC is served on 127.0.0.1 alone" in container.out[0]
    assert any('validator = "alice"' in line for line in container.out)


def test_a_configuration_without_the_plugin_ignores_the_validator(run: Run, volume: Path) -> None:
    (volume / "config.ini").write_text("plugin = database_api\n")

    lines = understood(run("--check-config", NODE_WITNESS="alice", NODE_PRIVATE_KEY="not even a key"))

    assert "validator = (none)" in lines
    assert "private-key = (none)" in lines
    assert any("NODE_WITNESS is not used: the plugin validator is not among those that run" in line for line in lines)


def test_an_untouched_configuration_follows_what_the_node_is_to_be(run: Run, volume: Path, images: Builder) -> None:
    understood(run("--check-config"))
    assert (volume / "config.ini").read_bytes() == template(images, "config.ini")

    lines = understood(run("--check-config", NODE_WITNESS="alice"))

    assert (volume / "config.ini").read_bytes() == template(images, "config_witness.ini")
    assert "webserver-ws-endpoint = 127.0.0.1:8091" in lines


def test_the_other_variables_are_options(run: Run) -> None:
    lines = understood(
        run(
            "--check-config",
            LEDGERD_RPC_ENDPOINT="0.0.0.0:9090",
            LEDGERD_P2P_ENDPOINT="0.0.0.0:2002",
            LEDGERD_EXTRA_OPTS="--p2p-max-connections 7  --plugin=raw_block",
        )
    )

    assert "webserver-http-endpoint = 0.0.0.0:9090" in lines
    assert "webserver-ws-endpoint = 0.0.0.0:9090" in lines
    assert "p2p-endpoint = 0.0.0.0:2002" in lines
    assert "p2p-max-connections = 7" in lines


def test_a_mounted_configuration_is_used_where_it_is(run: Run, volume: Path, tmp_path: Path) -> None:
    (tmp_path / "mounted.ini").write_text("p2p-max-connections = 9\n")

    lines = understood(run("--check-config"))

    assert f"configuration file: {ETC}" in lines
    assert "p2p-max-connections = 9" in lines
    assert not (volume / "config.ini").exists()


def as_user(number: int) -> tuple[str, ...]:
    """As `docker run --user` starts a container."""
    return ("setpriv", "--reuid", str(number), "--regid", str(number), "--clear-groups", "--inh-caps=-all", "--")


def test_a_container_may_run_as_any_user_that_can_write_to_the_volume(run: Run, volume: Path) -> None:
    assert "data directory:     /var/lib/ledgerd" in understood(run("--check-config", before=as_user(OPERATOR)))

    assert (volume / "config.ini").stat().st_uid == OPERATOR


def test_a_user_who_cannot_write_to_the_volume_is_told_so(run: Run) -> None:
    with run(before=as_user(4321)) as container:
        assert container.wait() == 1

    assert container.err == [
        "entry: /var/lib/ledgerd cannot be written by user 4321: give it to that user, or start the container as root"
    ]


def test_another_program_of_the_image_can_be_run(run: Run, volume: Path) -> None:
    with run("ledgerd", "--version") as container:
        assert container.wait() == 0

    assert container.out[0].startswith("blockchain_version: ")
    assert not (volume / "config.ini").exists()


def test_a_node_that_does_not_answer_is_not_healthy(run: Run, images: Builder) -> None:
    with run(*images.build("latest").health[1:]) as container:
        assert container.wait() != 0
