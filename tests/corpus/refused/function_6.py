for _t in range(2):

    def f(x):  # refused: A function stands outside of all blocks
        return x
