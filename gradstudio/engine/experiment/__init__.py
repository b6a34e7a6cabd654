"""Experiments on a second, silent run that leaves the live state alone: what-if and gradcheck."""
