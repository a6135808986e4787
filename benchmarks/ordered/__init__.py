"""What timelines, summaries and standing instructions are worth: questions about the order of events, about all of something, and on other things."""
