"""Several processes of one program: the engines that are its ranks, and the leader that makes one engine of them."""
