"""Running the live state.

Statement by statement or in segments, inside calls, past breakpoints, or as one untraced text;
with its rows, output and failures.
"""
