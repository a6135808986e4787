"""Checks and findings, each with the command that mends it."""
