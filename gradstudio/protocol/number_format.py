"""How a number is written in sentences and tables, as on the canvas: ``4.38e-7``, not ``4.38e-07``."""


def format_number(value: float, digits: int = 3) -> str:
    """At most so many significant digits, an exponent without zeros: ``0.25``, ``4.38e-7``, ``1e6``."""
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa
