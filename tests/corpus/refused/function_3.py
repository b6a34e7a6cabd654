def f(x, *more):  # refused: among the arguments are nothing that a canvas draws
    return x
