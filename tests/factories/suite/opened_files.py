"""A record of the files that a process and its children open; it is made before anything else is imported."""

import os
import sys


def record(log: str) -> None:
    """Write a line for each file that is opened from now on: the number of the process, a space, the name."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            os.write(descriptor, f"{os.getpid()} {os.fsdecode(arguments[0])}\n".encode(errors="replace"))

    sys.addaudithook(note)
