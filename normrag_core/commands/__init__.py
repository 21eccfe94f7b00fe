"""The commands of `python -m normrag_core`, one module each. Each takes plain arguments and returns the exit status."""
