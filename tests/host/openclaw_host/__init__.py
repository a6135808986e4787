"""A real OpenClaw for tests: node, the host's package, a model that is scripted, a gateway, and its owner's line to it."""
