"""What was said before, other products' exports, archives, moves."""
