"""A step of a person's own script, recorded while it runs: what was called, what it gave, and what went back."""
