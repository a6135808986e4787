"""Hooks of others with their guard, and templates."""
