"""One word, one meaning: for names of classes and types, and for the words of bounds."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.house.source_tree import PACKAGE, ROOT, parse, python_files, write_tree

_STORED = "an operation, and the object of the state that it writes; both names are those of the specification"
_ANSWERED = "a rule that is broken, and the answer of a node that it is; both names are the reference's"

EXCEPTIONS: dict[str, str] = {
    "AccountMetadata": _STORED,
    "Content": _STORED,
    "Hardfork": "the virtual operation of the specification, and the table of hardforks that it reports from",
    "MissingAuthority": _ANSWERED,
    "PaidSubscribe": _STORED,
    "PmDisputeVote": _STORED,
    "PmLazyDeposit": _STORED,
    "Role": "what an account is in an operation, and what a key is in an account",
    "Sender": "the account that an operation is from, and what sends to webhooks",
    "Shares": "what a field of the state holds, a bare number, and an exact amount for programs of others",
    "UnknownAccount": _ANSWERED,
}
"""Names with two meanings that are right as they are, and why."""


GENERATED = "sdk/api/records/"
"""Written from records of the APIs, with their names: a node makes what a program reads."""


def is_name_of_type(name: str) -> bool:
    return name[0].isupper() and not name.isupper()


def types(path: Path) -> dict[str, str]:
    """The classes and names for types at the top of a module, with what they are; a class is only itself."""
    found = {}
    for node in parse(path).body:
        match node:
            case ast.ClassDef(name=name):
                found[name] = str(path)
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if is_name_of_type(name):
                found[name] = ast.unparse(value)
    return found


def ambiguous(src: Path) -> dict[str, list[str]]:
    """Each name with more than one meaning, and the modules that define it."""
    meanings: dict[str, set[str]] = defaultdict(set)
    modules: dict[str, list[str]] = defaultdict(list)
    for path in python_files(src):
        if path.relative_to(src).as_posix().startswith(GENERATED):
            continue
        for name, meaning in types(path).items():
            if not name.startswith("_"):
                meanings[name].add(meaning)
                modules[name].append(path.relative_to(src).as_posix())
    return {name: modules[name] for name, found in meanings.items() if len(found) > 1}


LAW = ("chain/", "codec/", "pricing/", "protocol/", "state/", "p2p/wire/", "snapshot/exchange/frames.py")
"""Where the bounds of the network stand. `chain` and `state` have bounds of their own besides."""

BOUND_OF_LAW = re.compile(r"^_?(?:MAX|MIN)_\w+(?=[^=\n]*=[^=])", re.MULTILINE)


def misnamed_bounds(src: Path) -> list[str]:
    """Bounds that are named as the network's, in modules that are not about what the network demands."""
    found = []
    for path in python_files(src):
        name = path.relative_to(src).as_posix()
        if not name.startswith(LAW):
            found += [f"{name}: {each}" for each in BOUND_OF_LAW.findall(path.read_text(encoding="utf-8"))]
    return found


def test_max_and_min_are_bounds_of_the_network_alone() -> None:
    assert misnamed_bounds(ROOT / "src" / PACKAGE) == []


def test_a_bound_of_our_own_that_is_named_as_the_network_names_its_own_is_found(tmp_path: Path) -> None:
    text = "MAX_OPEN, MOST_SEEN = 3, 4\n_MIN_WAIT: float = 0.5\nwas = MAX_OPEN == 3\n"
    src = write_tree(tmp_path, {"rpc/link/link.py": text, "protocol/constants.py": text, "p2p/wire/frames.py": text})

    assert misnamed_bounds(src) == ["rpc/link/link.py: MAX_OPEN", "rpc/link/link.py: _MIN_WAIT"]


def test_no_name_of_a_type_has_two_meanings() -> None:
    assert {name: files for name, files in ambiguous(ROOT / "src" / PACKAGE).items() if name not in EXCEPTIONS} == {}


def test_each_exception_is_needed() -> None:
    assert set(EXCEPTIONS) <= set(ambiguous(ROOT / "src" / PACKAGE))


def test_a_name_given_twice_is_found(tmp_path: Path) -> None:
    src = write_tree(
        tmp_path,
        {
            "p2p/budget.py": "class Budget: ...\nClock = Callable[[], float]\nSIZE = 1\nclass _Own: ...\n",
            "rpc/bounds.py": "Budget = dict[str, int]\nClock = Callable[[], float]\nSIZE = 2\nclass _Own: ...\n",
        },
    )

    assert ambiguous(src) == {"Budget": ["p2p/budget.py", "rpc/bounds.py"]}
