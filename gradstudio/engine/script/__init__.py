"""The program's text ready to run.

Its statements as code objects, the cursor among them, where a run stops, and which node a line
belongs to.
"""
