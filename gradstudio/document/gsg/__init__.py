"""The `.gsg` format: its records, schema and migrations, reading with line and column of every fault, and writing."""
