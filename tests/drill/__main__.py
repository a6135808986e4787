"""`python -m tests.drill`."""

from tests.drill.run import main

main()
