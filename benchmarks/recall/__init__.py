"""Evidence recall, abstention and cost, measured through the product's own capture and recall."""
