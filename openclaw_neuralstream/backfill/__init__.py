"""What was said before there was a memory: read from where it was kept, told to the memory in order."""
