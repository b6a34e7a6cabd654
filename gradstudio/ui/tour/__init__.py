"""The tour: the first program a person builds, on a live canvas."""
