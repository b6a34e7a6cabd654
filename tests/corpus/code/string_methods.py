import torch

text = """First line
second line, with words
third"""
lines = text.split("\n")
words = [w.strip(",") for line in lines for w in line.split()]
upper = " ".join(words).upper()
index = {w: i for i, w in enumerate(sorted(set(words)))}
ids = torch.tensor([index[w] for w in words])
joined = "-".join(words[:3])
starts = text.startswith("First")
print(len(lines), upper[:5], joined, starts)
