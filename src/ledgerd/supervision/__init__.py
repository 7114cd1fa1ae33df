"""How a program keeps its parts running: tasks, threads and child processes. Knows no ledger, and no other room."""
