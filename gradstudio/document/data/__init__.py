"""Data from a person's disk: tables, arrays and pictures by class, read here and stored with the document."""
