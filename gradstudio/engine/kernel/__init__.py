"""What the kernel of Linux refuses the engine's process for good: files by their path, calls by their number."""
