"""What replicas cost a node, and how fast and in how much memory one follows.

The recorded blocks are applied by two chains in turns, one of which writes the log of changes; time is that of the
chain's thread. Then a replica in a process of its own begins with a state of 200,000 accounts, falls behind, and
catches up.
"""

from __future__ import annotations
