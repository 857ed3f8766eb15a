"""``python -m directrix.cli``, where the command itself is not on the path."""

from directrix.cli import main

if __name__ == "__main__":
    main()
