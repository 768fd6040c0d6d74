"""`python -m scorespace` is the command line."""

from scorespace.cli import main

main()
