"""Questions as people type them, weeks after they mentioned the answer: what of it the model is told."""
