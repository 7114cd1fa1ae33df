"""The commands of a document, run as they stand, but for ports and pace.

A fenced block is one step: `sh` is run to its end, `sh fails` too and must exit with 1, `sh background` stays running,
`python NAME` is saved as a file.
Other blocks are left to the test. A block without a kind, right behind a command, is what the command prints.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from tests.node.forking import CopiedProcess, copied_program
from tests.patience import PATIENCE

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(r"^```([^\n]+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"\n*^```\n(.*?)^```", re.MULTILINE | re.DOTALL)

OF_SHELLS = frozenset("\n\\\"'`$&|;<>(){}[]*?~#!")
"""What a shell reads otherwise than as a part of a word."""

SMALLER = {"--nodes 3 ": "--nodes 2 "}
"""What a network of a guide is in a test: a third node only takes in blocks, for a quarter of the processor time."""


class Step(NamedTuple):
    """A fenced block."""

    kind: str
    text: str


def steps_of(document: str, running: Mapping[str, str]) -> Iterator[Step]:
    """The blocks of a document, with what is running for what stands there."""
    for kind, text in FENCE.findall((DOCUMENTS / document).read_text(encoding="utf-8")):
        for usual, other in running.items():
            text = text.replace(usual, other)  # noqa: PLW2901 - one after the other
        yield Step(kind, text)


class Lesson(NamedTuple):
    """A step, and what the document says that it prints; nothing where it does not say."""

    step: Step
    shown: str = ""


def lessons_of(document: str, running: Mapping[str, str]) -> Iterator[Lesson]:
    """The steps of a document, each with what it prints there."""
    text = (DOCUMENTS / document).read_text(encoding="utf-8")
    shown = [SHOWN.match(text, found.end()) for found in FENCE.finditer(text)]
    for step, printed in zip(steps_of(document, running), shown, strict=True):
        yield Lesson(step, printed[1] if printed else "")


def assert_printed(shown: str, printed: str) -> None:
    """What was printed is what the page shows, whatever stands for `...` there."""
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    assert re.fullmatch(pattern, printed), f"the page shows:\n{shown}\nand this was printed:\n{printed}"


class Reader:
    """Somebody who does what a document says, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        programs = Path(sys.executable).parent
        self._environment = {**os.environ, "HOME": str(folder), "PATH": f"{programs}:{os.environ['PATH']}"}
        self._running: dict[str, subprocess.Popen[bytes] | CopiedProcess] = {}

    def take(self, step: Step) -> str:
        """Do a step; what it has printed, or for one that stays running the name of its log."""
        match step.kind.split():
            case ["sh"]:
                return self._run(step.text)
            case ["sh", "fails"]:
                return self._run(step.text, code=1)
            case ["sh", "background"]:
                return self._begin(step.text)
            case ["python", name]:
                (self.folder / name).write_text(step.text, encoding="utf-8")
        return ""

    def _run(self, text: str, code: int = 0) -> str:
        done = subprocess.run(  # noqa: S603 - what our own document says
            ["bash", "-euo", "pipefail", "-c", text],  # noqa: S607 - the reader's own
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == code, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr if code else done.stdout

    def _begin(self, text: str) -> str:
        name = f"terminal-{len(self._running)}.log"
        with (self.folder / name).open("wb") as log:
            process = self._start(text.strip(), log.fileno())
        self._running[name] = process
        threading.Thread(target=process.wait, daemon=True).start()  # so that it does not stay on as a dead one
        return name

    def _start(self, text: str, log: int) -> subprocess.Popen[bytes] | CopiedProcess:
        """A command of ours that no shell would change is a copy, as any node of the tests."""
        program, *words = text.split(" ")
        if program == "ledgerd" and not set(text) & OF_SHELLS:
            return copied_program(words, self.folder, self._environment, log)
        return subprocess.Popen(  # noqa: S603 - what our own document says
            ["bash", "-c", f"exec {text}"],  # noqa: S607 - the reader's own
            cwd=self.folder,
            env=self._environment,
            stdout=log,
            stderr=log,
        )

    def wait_for(self, log: str, words: str) -> None:
        """Return when a terminal has said something."""
        deadline = time.monotonic() + PATIENCE
        while words not in (said := (self.folder / log).read_text(errors="replace")):
            assert time.monotonic() < deadline, f"never said {words!r}:\n{said}"
            time.sleep(0.1)

    def interrupt(self, log: str) -> None:
        """Press Ctrl-C in a terminal, and wait for the end of what ran there."""
        self._running[log].send_signal(signal.SIGINT)
        assert self._running[log].wait(PATIENCE) == 0, (self.folder / log).read_text(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._running.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._running.values():
            process.wait(PATIENCE)
