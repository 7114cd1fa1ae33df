"""Loading the file of an application. It is a program of the operator's, and runs with all that the operator may do."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb

from ledgerd.app.declaring.application import Application
from ledgerd.app.errors import WrongDeclaration
from ledgerd.basics.failures import reason_of
from ledgerd.protocol.errors import OperatorError


def load_application(path: Path) -> Application:
    """The one application that a file declares. What lies beside the file can be imported in it."""
    if not path.is_file():
        raise WrongDeclaration(f"{path}: there is no such file")
    file = str(path.absolute())
    name = f"ledgerd_application_{path.stem}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise WrongDeclaration(f"{path} is no file of Python: its name ends in .py")
    sys.path.insert(0, str(Path(file).parent))
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except OperatorError as problem:
        raise WrongDeclaration(f"{path}{_line(problem, file)}: {problem}") from problem
    except Exception as problem:
        why = f"{type(problem).__name__}: {reason_of(problem)}"
        raise WrongDeclaration(f"{path}{_line(problem, file)}: {why}") from problem
    found = {id(each): each for each in vars(module).values() if isinstance(each, Application)}
    if len(found) != 1:
        raise WrongDeclaration(f"{path} declares {len(found)} applications: a file has one, at its top")
    return next(iter(found.values()))


def _line(problem: BaseException, file: str) -> str:
    if isinstance(problem, SyntaxError) and problem.filename == file:
        return f", line {problem.lineno}"
    lines = [each.lineno for each in extract_tb(problem.__traceback__) if each.filename == file]
    return f", line {lines[-1]}" if lines else ""
