import torch


def predict(x):
    return model(x) * factor


factor = 2
model = torch.nn.Identity()
a = predict(torch.ones(2))
factor = 3
b = predict(torch.ones(2))
values = [predict(torch.ones(1)) for _ in range(2)]
table = dict((k, predict(torch.ones(1))) for k in "ab")
print(a, b)
