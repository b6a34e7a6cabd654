"""Errors of what is too large: numbers, texts and lists of Python, sizes beyond 64 bits. Data; tests run examples."""

from gradstudio.advice.model import Rule

_TENSOR = "Make a tensor instead (torch.zeros, torch.full, torch.arange)"

TOO_LARGE: tuple[Rule, ...] = (
    Rule(
        "number of many digits",
        "",
        r"A whole number of about [\d,*]+|Exceeds the limit \(\d+ digits\)",
        "A whole number of Python has as many digits as it needs, and takes the longer the more there are: hours for "
        "9**9**9, in which nothing can stop it.",
        ("Write a float (9.0**9), which has 16 digits and a size up to 1e308", "Make the exponent smaller"),
        "str(10**5000)",
    ),
    Rule(
        "size of 64 bits",
        "",
        r"Overflow when unpacking long|too large to convert to|cannot fit 'int' into an index-sized integer"
        r"|A size has at most 63 bits|Long did not fit|out of bounds for (?:long|int64)",
        "A size, an index or a number that torch takes is a whole number of 64 bits: at most "
        "9,223,372,036,854,775,807. Here one is larger.",
        ("Make the number smaller", "Write a float (1e30) where a value and not a size is meant"),
        "import torch\ntorch.ones(10**30)",
    ),
    Rule(
        "list or text of many elements",
        "",
        r"(?:A (?:list|text)|Bytes) of [\d,*\w ]+ (?:elements|characters|bytes); at most|A format asks for",
        "What is made outside of tensors, one Python object for each element, takes eight times the memory of a "
        "tensor and more.",
        (_TENSOR, "Make the number smaller"),
        "raise ValueError('A list of 100,000,000,000 elements; at most 100,000,000 are made outside of tensors.')",
    ),
    Rule(
        "no memory in Python",
        "MemoryError",
        r"^(?:|Unable to allocate .*)$",
        "There is not enough memory for the list, text or array that this statement makes.",
        (_TENSOR, "Make the number smaller"),
        "[0] * 10**17",
    ),
)
