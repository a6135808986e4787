"""A workspace's Markdown: watched, indexed, its pages and MEMORY.md written."""
