"""OpenClaw as seen from outside: its executable, its config, our plugin in it, one turn of its agent."""
