"""The training script.

Which statements are a step, what is a batch, a learning rate or a schedule, and the text around
them.
"""
