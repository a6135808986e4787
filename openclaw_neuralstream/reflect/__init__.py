"""Reflection: facts and gems to entity pages, opinions, a slim MEMORY.md and proposals; planned purely, written carefully."""
