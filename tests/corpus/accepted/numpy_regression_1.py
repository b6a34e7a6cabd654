import numpy as np
def_ = 3
rng = np.random.default_rng(seed=42)
X = rng.standard_normal((100, 3))
true_w = np.array([1.5, -2.0, 0.5])
y = X @ true_w + 0.1 * rng.standard_normal(100)
w = np.zeros(3)
lr = 0.1
history = []
for epoch in range(50):
    y_hat = X @ w
    err = y_hat - y
    grad = X.T @ err / len(y)
    w = w - lr * grad
    mse = (err ** 2).mean()
    history.append(mse)
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d}: mse={mse:.4f}, w={np.round(w, 2)}")
print("final", w.round(3), np.abs(w - true_w).max() < 0.1)
closed = np.linalg.inv(X.T @ X) @ X.T @ y
lst = np.linalg.lstsq(X, y, rcond=None)[0]
sol, res, rank, sv = np.linalg.lstsq(X, y, rcond=None)
idx = rng.permutation(len(X))
train, test = idx[:80], idx[80:]
Xtr, Xte = X[train], X[test]
mu = Xtr.mean(axis=0)
sd = Xtr.std(axis=0)
Z = (Xtr - mu) / (sd + 1e-8)
sig = 1.0 / (1.0 + np.exp(-Z.dot(w)))
pred = (sig > 0.5).astype(np.int64)
acc = np.mean(pred == (y[train] > 0))
cov = np.cov(Z.T)
oh = np.zeros((4, 3))
oh[np.arange(4), [0, 2, 1, 0]] = 1
sm = np.exp(oh) / np.sum(np.exp(oh), axis=-1, keepdims=True)
cum = np.cumsum(sm, axis=1)
mx = np.max(sm)
am = np.argmax(sm, axis=1)
