class Point:  # refused: The class 'Point' is drawn when it is one of nn.Module alone
    def __init__(self, x):
        self.x = x
