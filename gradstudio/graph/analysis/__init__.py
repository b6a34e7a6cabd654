"""What the text of a program says before anything runs.

Addresses, validity, gradients, module modes, and what an edit leaves as it was.
"""
