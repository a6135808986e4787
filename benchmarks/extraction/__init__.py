"""How good an extractor is: labelled conversations in three languages, and what of them became gems."""
