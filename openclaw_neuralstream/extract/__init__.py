"""Turns to drafts: when to extract, and who does it — rules without a model, or a model behind a completion."""
