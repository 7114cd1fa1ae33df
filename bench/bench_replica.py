"""What replicas cost a node, and how fast and in how much memory one follows.

The recorded blocks are applied by two chains in turns, one of which writes the log of changes; time is that of the
chain's thread. Then a replica in a process of its own begins with a state of 200,000 accounts, falls behind, and catches up.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import msgspec
import psutil

from ledgerd.chain.chain import STATE_FOLDER, Chain
from ledgerd.codec import codec_of
from ledgerd.protocol.block import Block
from ledgerd.replica.order import ServerOrder
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.state.change_log import CHANGES_FOLDER, RUN_BYTES, ChangeLog
from ledgerd.state.disk import Space
