"""Supervision: tasks, threads and child processes, and their restarts. Imports no other room and knows no ledger."""
