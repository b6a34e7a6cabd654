"""Runs of a document: each training is kept as it runs, and looked at beside others."""
