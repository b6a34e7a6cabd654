# Größen mit griechischen Namen
import torch
α = 0.1  # Lernrate
θ = torch.tensor([1.0, 2.0], requires_grad=True)
Σ = (θ ** 2).sum()
Σ.backward()
θ_neu = θ - α * θ.grad
print(f"θ = {θ_neu.tolist()} – fertig ✓")
naïve_mean = θ.mean()
