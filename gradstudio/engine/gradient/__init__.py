"""Which gradients there are.

Watched tensors, the edges of wires in autograd's graph, in-place writes, and the state of each
gradient.
"""
