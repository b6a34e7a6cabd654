"""Runs of a document as folders beside it: what was run, its curves, and what was learnt. No Qt, no torch."""
