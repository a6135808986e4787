"""Questions in their order with the answers that matter: significance, the index, and how the files of it read."""
