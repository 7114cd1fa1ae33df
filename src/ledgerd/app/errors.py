"""What can go wrong with an application, each by a class of its own."""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError


class WrongDeclaration(OperatorError):
    """The file of the application says something that can't be carried out."""


class TablesChanged(OperatorError):
    """The tables in the database are not what the application has made of them."""


class AlreadyRunning(OperatorError):
    """Another process feeds the same database."""


class DatabaseRefused(OperatorError):
    """The database can't be opened, or belongs to something else."""


class HandlerHangs(OperatorError):
    """A handler does not return."""


class HandlerFailed(Exception):
    """A handler has raised. Nothing of its block is kept."""


class DatabaseLost(Exception):
    """The database does not carry out what it is asked. Nothing of the block is kept."""


class WrongFeed(Exception):
    """A block that is fed does not continue the applied ones. Nothing of it is kept."""
