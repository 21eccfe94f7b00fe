"""Stress tests that take too long for `make test`: `python -m tests.stress fuzz|kill|load`. Each prints what it counted."""
