"""The OpenClaw command line: find, install, configure, prove, roll back."""
