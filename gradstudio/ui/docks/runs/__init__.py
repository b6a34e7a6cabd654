"""The Runs dock: each training that was kept, beside others: what differs, its curves, and the way back to it."""
