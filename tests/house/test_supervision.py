"""Whatever runs beside its caller is made by the supervision: tasks, threads, processes. So nothing falls silent.

What a client runs in a program of somebody else is made in one file of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, nodes_of, parse, python_files, write_tree

SUPERVISION = "supervision"
CLIENT = "sdk/running.py"

MODULES = frozenset({"multiprocessing", "subprocess", "pty", "_thread", "_posixsubprocess"})
"""Nothing of these is used anywhere else."""

MAKERS = frozenset(
    {
        *(f"asyncio.{name}" for name in ("run", "Runner", "Task()", "TaskGroup", "gather", "as_completed", "wait_for")),
        *(f"asyncio.{name}" for name in ("start_server", "start_unix_server", "subprocess", "staggered")),
        *(f"uvloop.{name}" for name in ("run", "install")),
        *(f"threading.{name}" for name in ("Thread", "Timer")),
        "concurrent.futures",
        *(f"os.{name}" for name in ("fork", "forkpty", "popen", "posix_spawn", "posix_spawnp", "startfile", "system")),
    }
)
"""What makes a task, a thread or a process, by its full name; so does what stands below it."""

HARMLESS = frozenset({"concurrent.futures.Future"})

METHODS = frozenset(
    {
        *("create_task", "ensure_future", "run_in_executor", "run_coroutine_threadsafe", "to_thread"),
        *("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell"),
        *("start_new_thread", "ThreadPoolExecutor", "ProcessPoolExecutor"),
    }
)
"""Names that mean this whoever they are asked of."""


def makers_outside(src: Path) -> list[str]:
    """Every place outside the supervision that makes a task, a thread or a process."""
    package = src / PACKAGE
    found: dict[tuple[str, int], str] = {}
    for path in python_files(package):
        inside = path.relative_to(package)
        if inside.parts[0] != SUPERVISION and inside.as_posix() != CLIENT:
            found.update({(inside.as_posix(), line): name for name, line in _named(parse(path)) if _makes(name)})
    return [f"{file}:{line}: {name}" for (file, line), name in sorted(found.items())]


def _makes(name: str) -> bool:
    words = name.split(".")
    starts = {".".join(words[: count + 1]) for count in range(len(words))}
    if starts & HARMLESS:
        return False
    is_spawn = words[0] == "os" and words[-1].startswith(("spawn", "exec"))
    return words[-1] in METHODS or words[0] in MODULES or is_spawn or bool(starts & MAKERS)


def _named(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What is imported from elsewhere or asked of an object, by full names where they can be known."""
    known: dict[str, str] = {}
    yield from _imported(tree, known)
    yield from _asked(tree, known)


def _imported(tree: ast.Module, known: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Imports; what each name in the file stands for is noted."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else ""
                if alias.name.partition(".")[0] in MODULES or alias.name in MAKERS - {"concurrent.futures"}:
                    yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}", node.lineno


def _asked(tree: ast.Module, known: dict[str, str]) -> Iterator[tuple[str, int]]:
    for node in nodes_of(tree):
        if isinstance(node, ast.Call) and _full(node.func, known) == "asyncio.Task":
            yield "asyncio.Task()", node.lineno  # anywhere else it is an annotation
        if isinstance(node, ast.Attribute):
            yield _full(node, known), node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            for argument in node.args[1:2]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value, node.lineno


def _full(node: ast.expr, known: dict[str, str]) -> str:
    match node:
        case ast.Attribute(value=value, attr=attr):
            return f"{_full(value, known)}.{attr}"
        case ast.Name(id=name):
            return known.get(name) or name
    return "?"


def test_whatever_runs_beside_its_caller_is_made_by_the_supervision() -> None:
    assert makers_outside(ROOT / "src") == []


def test_the_supervision_is_where_they_are_made() -> None:
    made = [name for path in python_files(ROOT / "src" / PACKAGE / SUPERVISION) for name, _ in _named(parse(path))]
    assert {"subprocess.Popen", "threading.Thread"} <= set(made)
    assert any(name.endswith(".create_task") for name in made)


@pytest.mark.parametrize(
    "text",
    [
        "import asyncio\nasyncio.create_task(work())",
        "import asyncio\nasyncio.get_running_loop().create_task(work())",
        "self.loop.create_task(work())",
        "import asyncio as aio\naio.gather(one(), two())",
        "from asyncio import gather",
        "from asyncio import ensure_future as soon",
        "import asyncio\nasync with asyncio.TaskGroup() as group:\n    pass",
        "import asyncio\nasyncio.run(main())",
        "from asyncio import Task\nTask(work())",
        "import asyncio\nasyncio.start_server(session, host, 1)",
        "import asyncio\nasyncio.run_coroutine_threadsafe(work(), loop)",
        "import asyncio\nasyncio.to_thread(work)",
        "import asyncio\nasyncio.wait_for(work(), 1)",
        "loop.run_in_executor(None, work)",
        "import threading\nthreading.Thread(target=work).start()",
        "from threading import Thread as Line",
        "import threading\nclass Watch(threading.Thread):\n    pass",
        "from concurrent.futures import ThreadPoolExecutor",
        "import concurrent.futures\nconcurrent.futures.ThreadPoolExecutor(4)",
        "import subprocess",
        "from subprocess import run",
        "def later():\n    import subprocess",
        "import multiprocessing.pool",
        "import asyncio\nasyncio.create_subprocess_exec('true')",
        "from asyncio.subprocess import PIPE",
        "import os\nos.fork()",
        "import os\nos.spawnv(os.P_NOWAIT, 'true', [])",
        "from os import posix_spawn",
        "import os\nos.system('true')",
        "import asyncio\ngetattr(asyncio, 'create_task')(work())",
    ],
)
@pytest.mark.parametrize("file", ["chain/chain.py", "rpc/http/service.py", "node/parts/peers.py"])
def test_what_is_made_elsewhere_is_found(tmp_path: Path, file: str, text: str) -> None:
    assert len(makers_outside(write_tree(tmp_path, {f"{PACKAGE}/{file}": text}))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import asyncio\nasyncio.sleep(1)\nasyncio.Event()\nasyncio.get_running_loop().call_later(1, print)",
        "import threading\nthreading.Event()\nthreading.Lock()",
        "from concurrent.futures import Future",
        "from ledgerd.supervision.tasks import Tasks\nTasks(print).begin(work())",
        "from ledgerd.node.config.given import gather\ngather({})",
        "import os\nos.getpid()",
        "def task(running: 'asyncio.Task[None]') -> None:\n    pass",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)",
    ],
)
def test_what_runs_nothing_is_no_fault(tmp_path: Path, text: str) -> None:
    assert makers_outside(write_tree(tmp_path, {f"{PACKAGE}/node/parts/peers.py": text})) == []
