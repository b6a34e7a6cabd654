import torch
from collections import Counter, OrderedDict, defaultdict

words = "a b a c b a".split()
counter = Counter(words)
common = counter.most_common(1)[0][0]
unique = sorted(set(words))
groups = defaultdict(list)
for i, w in enumerate(words):
    groups[w].append(i)
config = dict(lr=0.1, layers=[4, 2])
config.update({"seed": 3})
config["lr"] /= 10
lr = config.get("lr", 1.0)
missing = config.get("nothing")
torch.manual_seed(config["seed"])
x = torch.rand(len(unique))
sizes = [len(v) for v in groups.values()]
print(common, unique, sizes, lr, missing)
