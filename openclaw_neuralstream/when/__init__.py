"""Days that a text names, in English, Russian and Chinese: "since last week", "27 Nov – 1 Dec 2025", "上周以来", "30d"."""
