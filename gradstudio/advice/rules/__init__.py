"""The known errors and warnings of torch as data: pattern, explanation, kinds of fixes, and an example."""
