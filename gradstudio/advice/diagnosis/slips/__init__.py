"""Slips of one statement: a seed, a mask, a layer, a clip that stands where it does something else than was meant."""
