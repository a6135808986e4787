"""Kill and outage runs: `python -m tests.drill --rounds 2000 --buffer redis`; the tests run a short form."""
