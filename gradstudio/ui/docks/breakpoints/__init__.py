"""The Breakpoints dock: where a run pauses, on what condition, and what it met."""
