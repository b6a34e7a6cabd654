"""One real backward.

Recorded by hooks on autograd's nodes, and explained where a gradient is missing or torch refuses.
"""
