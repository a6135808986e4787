"""What an embedding model wants before a question and before a document, from the models' own cards."""

_PREFIXES = {
    # model family: (before a question, before a document)
    "snowflake-arctic-embed": ("query: ", ""),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
    "multilingual-e5": ("query: ", "passage: "),
}


def prefixes(model: str) -> tuple[str, str]:
    """What the model wants before a question and before a document; ("", "") when it wants nothing."""
    name = model.rsplit("/", 1)[-1]
    return next((pair for family, pair in _PREFIXES.items() if name.startswith(family)), ("", ""))
