"""What sequences of questions are worth, and what they cost."""
