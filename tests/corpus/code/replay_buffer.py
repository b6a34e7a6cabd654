import random
from collections import deque, namedtuple

import torch

Transition = namedtuple("Transition", ("state", "action", "reward"))


class ReplayMemory(object):
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


random.seed(1)
memory = ReplayMemory(4)
for i in range(6):
    memory.push(torch.tensor([float(i)]), i % 2, i * 0.5)
batch = Transition(*zip(*memory.sample(3)))
states = torch.cat(batch.state)
rewards = list(batch.reward)
size = len(memory)
print(size, states, rewards)
