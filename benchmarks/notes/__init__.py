"""Workspace memory measured: indexing, queries, and how soon a saved file is found."""
