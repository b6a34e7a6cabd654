"""The timeline: what a run did, forward and backward on one axis, and the moment that is looked at."""
