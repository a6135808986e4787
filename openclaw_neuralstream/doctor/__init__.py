"""What is wrong, why it matters, and the command that mends it: checks over plain facts, gathered beforehand."""
