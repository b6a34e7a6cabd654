import torch
xs = torch.arange(1., 6.)
beta, avg = 0.9, 0.
corrected = []
for i, x in enumerate(xs.tolist()):
    avg = beta * avg + (1 - beta) * x
    corrected.append(avg / (1 - beta ** (i + 1)))
best, best_i = -1.0, 0
running = torch.zeros(1)
for c in corrected: running += c
n = len(corrected)
m = running / n
print(n, f"{avg:.3f}", corrected[-1], end="\n")
print("a", "b", sep="-")
x: int
flag = True; none = None
text = "a 'quoted' word" + " and more"
