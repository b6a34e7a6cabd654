import torch

a = torch.ones(2)
b = a + 1
del a
c, d = b.unbind()
for turn in range(3):
    x = torch.full((1,), float(turn))
del c, turn
with torch.no_grad():
    y = x * 2
if len(b) == 2:
    del x
try:
    y @ torch.ones(3)
except RuntimeError as error:
    kind = type(error).__name__
while (rest := len(b)) > 2:
    pass
print(b, d, y, kind)
