"""Blocks and operations as they come: from any place in the past on, over cuts, changes of node and forks."""
