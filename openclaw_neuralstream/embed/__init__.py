"""Texts to vectors: a multilingual model that a package carries, or any embedding model of an Ollama server."""
