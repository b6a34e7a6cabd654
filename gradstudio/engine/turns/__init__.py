"""Loops of many turns: which of them are recorded, how the others run, and what is told of all."""
