import torch

chars = sorted(set("hello world"))
stoi = {ch: i for i, ch in enumerate(chars)}
itos = {i: ch for ch, i in stoi.items()}
encode = lambda s: [stoi[c] for c in s]
decode = lambda l: "".join([itos[i] for i in l])
data = torch.tensor(encode("hello"), dtype=torch.long)
text = decode(data.tolist())
counts = {c: "hello world".count(c) for c in chars if c != " "}
vocab = len(chars)
print(text, vocab, counts["l"])
model = torch.nn.Linear(2, 2)
shapes = {n: tuple(p.shape) for n, p in model.named_parameters()}
batch = {"x": torch.ones(3, 2), "y": torch.zeros(3)}
batch = {k: v * 2 for k, v in batch.items()}
scaled = {name: batch["x"] * w for name, w in [("a", 1.0), ("b", 2.0)]}
loss = model(scaled["a"] + scaled["b"]).sum()
loss.backward()
nested = {i: {j: i + j for j in range(i)} for i in range(3)}
table = {(i, j): i * j for i in range(2) for j in range(3)}
last = {k % 2: k for k in range(5)}


def told(k):
    print("told", k)
    return k


def count_by(words, least=1):
    return {w: words.count(w) for w in words if words.count(w) >= least}


in_order = {told(k): told(-k) for k in (1, 2)}
by_count = count_by(["a", "b", "a"], 2)
print(shapes, nested, table, last, in_order, by_count, {k: v for k, v in by_count.items()})
