"""Benchmarks: `make bench`. They print ratios against a named peer of the same run; no test asserts a time."""
