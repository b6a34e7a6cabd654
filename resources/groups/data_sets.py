"""Small data sets that are made, not loaded: points and what they belong to, for a first network to learn."""

import torch


def two_moons(count=200, noise=0.1):
    """Two half moons that reach into each other: points [count, 2] and classes 0, 1."""
    angle = torch.rand(count) * torch.pi
    labels = torch.arange(count) % 2
    side = 1 - 2 * labels
    x = torch.cos(angle) * side + labels - 0.5
    y = (torch.sin(angle) - 0.25) * side
    points = torch.stack((x, y), dim=1) + noise * torch.randn(count, 2)
    return points, labels


def circles(count=200, noise=0.1):
    """A circle within a circle: points [count, 2] and classes 0 (outside), 1 (inside)."""
    angle = torch.rand(count) * (2 * torch.pi)
    labels = torch.arange(count) % 2
    radius = 1 - 0.5 * labels
    points = torch.stack((radius * torch.cos(angle), radius * torch.sin(angle)), dim=1)
    points = points + noise * torch.randn(count, 2)
    return points, labels


def spirals(count=200, noise=0.05, arms=2, rounds=1.5):
    """Spirals around each other: points [count, 2] and which arm each lies on."""
    labels = torch.arange(count) % arms
    radius = torch.rand(count).sqrt()
    angle = radius * rounds * (2 * torch.pi) + labels * (2 * torch.pi) / arms
    points = torch.stack((radius * torch.cos(angle), radius * torch.sin(angle)), dim=1)
    points = points + noise * torch.randn(count, 2)
    return points, labels


def blobs(count=200, noise=0.2, classes=3):
    """Clouds around points of a circle: points [count, 2] and which cloud each belongs to."""
    labels = torch.arange(count) % classes
    angle = labels * (2 * torch.pi) / classes
    points = torch.stack((torch.cos(angle), torch.sin(angle)), dim=1) + noise * torch.randn(count, 2)
    return points, labels


def xor(count=200):
    """Four quarters of a square: points [count, 2] and class 1 where the signs of x and y differ."""
    points = torch.rand(count, 2) * 2 - 1
    labels = (points[:, 0] * points[:, 1] < 0).long()
    return points, labels


def sine(count=200, noise=0.1):
    """A noisy wave: x [count, 1] from -3 to 3 and y [count, 1]."""
    x = torch.rand(count, 1) * 6 - 3
    y = torch.sin(2 * x) + noise * torch.randn(count, 1)
    return x, y
