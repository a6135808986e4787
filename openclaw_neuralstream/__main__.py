"""`python -m openclaw_neuralstream` is `neuralstream`."""

from openclaw_neuralstream.cli import main

if __name__ == "__main__":
    main()
