"""Training scripts under torchrun: how it is started here, on hosts and by Slurm, and how it ends. No torch here."""
