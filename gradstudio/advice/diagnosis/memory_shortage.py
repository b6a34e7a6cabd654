"""A program that needs more memory than its device has, in words."""

from gradstudio.protocol.messages.inference import Need

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size_title(need: Need) -> str:
    """In one line: what is needed, what there is."""
    return f"This needs about {in_words(need.bytes)} on {need.device}; {in_words(need.free_bytes)} are free."


def size_explanation(need: Need) -> str:
    """What the figure is made of, and what can be done."""
    return (
        f"From here on, what the program holds at once exceeds the free memory of {need.device}. The figure is a lower "
        "bound: values that have a name, gradients of the leaves, and what the optimizer keeps; what operators need "
        "inside comes on top. Smaller batches or sizes, a narrower dtype, or binding a name anew make it less."
    )


def in_words(count: float) -> str:
    """``41 GiB``, ``1.5 GiB``."""
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.1f} {_UNITS[unit]}" if unit and count < 10 else f"{count:.0f} {_UNITS[unit]}"
