"""How good an extractor is: labelled conversations through the real path, and what of them became gems."""
