"""Long-term memory for OpenClaw."""
