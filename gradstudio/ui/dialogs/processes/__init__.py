"""On several processes…: here, on hosts, wherever processes meet, or by Slurm."""
