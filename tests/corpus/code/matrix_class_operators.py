import torch


class Vec:
    def __init__(self, data):
        self.data = torch.as_tensor(data, dtype=torch.float32)

    def __add__(self, other):
        return Vec(self.data + other.data)

    def __mul__(self, k):
        return Vec(self.data * k)

    __rmul__ = __mul__

    def __len__(self):
        return len(self.data)


a = Vec([1, 2])
b = Vec([3, 4])
c = a + 2 * b
d = c.data
n = len(c)
print(d, n)
