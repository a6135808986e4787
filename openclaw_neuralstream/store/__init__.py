"""Where memory lives: the SQLite truth, the turn buffers, and the gem indexes that are projected from the truth."""
