"""The program as a figure of a paper: small boxes with formulas, laid out, at a moment, and written as text. No Qt."""
