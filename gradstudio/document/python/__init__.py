"""Python files as documents: reading, exporting, merging an edited text, and modules of a person's own."""
