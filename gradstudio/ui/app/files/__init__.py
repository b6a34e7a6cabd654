"""The documents that are open: opening, saving by itself, recovery, and what other programs write."""
