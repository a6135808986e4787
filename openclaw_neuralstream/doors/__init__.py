"""Other ways in than the host's bridge and the command line; each speaks to the one memory process."""
