import torch


class Tracker:
    """Keeps a running mean."""

    count = 0

    def __init__(self, decay=0.9):
        self.decay = decay
        self.value = None

    def update(self, x):
        Tracker.count += 1
        if self.value is None:
            self.value = x
        else:
            self.value = self.decay * self.value + (1 - self.decay) * x
        return self.value

    @property
    def rounded(self):
        return round(self.value, 3)


torch.manual_seed(3)
tracker = Tracker()
for value in torch.rand(5):
    tracker.update(value.item())
result = tracker.value
rounded = tracker.rounded
total = Tracker.count
print(total, rounded)
