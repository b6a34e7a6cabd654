"""torch's docstrings as records: paragraphs, lists, arguments, examples, formulas. No Qt here, and no torch.

A reader of its own, not docutils: torch's docstrings mix Google's sections with Sphinx's roles, break the rules of both
in places, and carry LaTeX; docutils answers a broken rule with a system message where a reader wants the words.
"""
