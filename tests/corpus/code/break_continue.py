import torch

x = torch.arange(10)
found = -1
skipped = []
for i in range(10):
    if i % 3 == 0:
        skipped.append(i)
        continue
    if x[i] > 6:
        found = i
        break
else:
    found = None
evens = [v for v in x.tolist() if v % 2 == 0]
print(found, skipped, evens)
