"""How many secrets are taken out, how many look-alikes stay, and what it costs."""
