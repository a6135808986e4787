"""Benchmarks whose results are committed with date, commit, settings and versions."""
