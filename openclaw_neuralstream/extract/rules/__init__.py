"""Days that a sentence names."""
