"""Weights learned from committed data, by committed scripts."""
