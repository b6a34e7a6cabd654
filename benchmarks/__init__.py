"""Figures: each module has `measure()`, which returns rows measured in one run."""
