"""The run and its engine: requests and events, breakpoints, experiments, problems, and importing modules."""
