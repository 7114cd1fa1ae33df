"""`ledgerd snapshot`: exports the state to a file that `vizd` can read, and imports such a file."""

from __future__ import annotations

import argparse
import logging
import sys
import time

from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.data_directory import opened_chain
from ledgerd.node.config.logging.setup import set_up_for_person
from ledgerd.node.config.network import network_of
from ledgerd.node.datadir.opening import files_of
from ledgerd.node.datadir.state_export import write_snapshot
from ledgerd.node.datadir.state_import import import_state
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.importing import import_progress
from ledgerd.snapshot.importing.checks import excess_warning
from ledgerd.snapshot.settings import Terms


def run(chosen: argparse.Namespace) -> int:
    return _export(chosen) if chosen.direction == "export" else _import(chosen)


def _export(chosen: argparse.Namespace) -> int:
    if chosen.file.exists():
        raise OperatorError(f"{chosen.file} exists already: choose another name, or remove it")
    with opened_chain(chosen, must_exist=True, needs_log=False) as chain:
        with_metadata = configuration_of(chosen).snapshot.writes_pm_meta
        written = write_snapshot(chain, chosen.file, int(time.time()), with_metadata=with_metadata)
        sys.stdout.write(f"block {chain.head_number} written to {chosen.file}, checksum {written.checksum}\n")
    if written.excess:
        sys.stderr.write(f"{excess_warning(written.excess)}\n")
    return 0


def _import(chosen: argparse.Namespace) -> int:
    configuration = configuration_of(chosen)
    files = files_of(configuration)
    if files.exists:
        raise OperatorError(f"there is a state in {chosen.data_dir} already: choose another --data-dir")
    options, network = configuration.snapshot, network_of(configuration)
    with set_up_for_person(logging.getLogger(import_progress.__name__)):
        terms = Terms(options.pm_legacy_residual, options.knows_pm_meta)
        head = import_state(files, chosen.file, network, terms)
    sys.stdout.write(f"the state of block {head} is in {chosen.data_dir}\n")
    return 0
