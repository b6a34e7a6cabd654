def f(x):
    for t in range(3):
        return x  # refused: `return` stands last
