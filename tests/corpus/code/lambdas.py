import torch

square = lambda t: t**2
scale = lambda t, k=3: t * k
x = torch.arange(4.0)
y = square(x)
z = scale(x)
pairs = sorted([(3, "c"), (1, "a"), (2, "b")], key=lambda pair: pair[0])
mapped = list(map(lambda v: v.item() + 1, x))
kept = list(filter(lambda v: v > 1, mapped))
print(pairs, mapped, kept)
