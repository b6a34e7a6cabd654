"""What a run said: values at any moment of the record, memory over time, and moving through the record."""
