"""The process: its socket, its methods, and what the host tells."""
