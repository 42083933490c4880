"""`python -m slowwave`: the command, of the very Python that is asked."""

from slowwave.cli import main

if __name__ == "__main__":
    main()
