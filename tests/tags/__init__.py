"""Tags: names, the graph, the labels of gems, and the questions that mention them."""
