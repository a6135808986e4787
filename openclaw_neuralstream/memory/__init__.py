"""The memory: capture, distil, store, recall, remind, forget."""
