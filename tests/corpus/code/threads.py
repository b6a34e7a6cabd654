import threading

import torch

results = [None] * 3


def work(k):
    results[k] = torch.ones(2) * k


threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
total = torch.stack(results).sum()
print(total)
