"""Looks over a whole run or graph for what no error tells.

Where NaN begins, gradients that fade, writes without order, silent mistakes.
"""
