"""The process: one per state directory, JSON lines over a socket, found or started by whoever comes first."""
