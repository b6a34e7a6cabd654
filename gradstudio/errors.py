"""The root of every error GradStudio raises on purpose."""


class GradStudioError(Exception):
    """Something a person can understand and act on: what, where, what to do."""
