"""The user's Markdown: files to notes and facts, and an index of them that follows the files."""
