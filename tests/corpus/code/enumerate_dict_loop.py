import torch

scores = {"a": 0.5, "b": 0.25, "c": 0.75}
best = None
for i, (key, score) in enumerate(scores.items()):
    if best is None or score > scores[best]:
        best = key
    print(i, key, score)
x = torch.tensor(list(scores.values()))
ranked = sorted(scores, key=scores.get, reverse=True)
print(best, ranked)
