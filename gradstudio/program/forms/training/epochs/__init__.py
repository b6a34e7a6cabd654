"""Trainings over epochs of batches: model, data, loss, loop and measures of their script apart."""
