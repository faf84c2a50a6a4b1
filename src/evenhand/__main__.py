"""`python -m evenhand`, for where the console script is not on the path."""

from evenhand.cli.main import run

if __name__ == "__main__":
    run()
