"""Entry point of ``python -m directrix.cli``."""

from directrix.cli import main

if __name__ == "__main__":
    main()
