"""What a text is made of, in any language: terms, sentences, tokens, days, fences."""
