"""Commands of the project, run in the process of the tests: what imports cost is paid once, not at each command.

One test of each program starts a real process; the others state what a command does, not how Python starts it.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

Finished = subprocess.CompletedProcess[str]
_HOOKS = ((sys, "excepthook"), (threading, "excepthook"), (traceback, "print_exc"))
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_maintenance(*arguments: str, environ: Mapping[str, str] | None = None) -> Finished:
    """`python -m maintenance`."""
    from maintenance.__main__ import main

    return run_main(lambda given: main(given), arguments, environ=environ)


def run_vlrb(*arguments: str, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Finished:
    """`vlrb`."""
    from vlrb.cli import main

    return run_main(main, arguments, environ=environ, folder=folder)


def judge_main(arguments: list[str]) -> int:
    """`vlrb judge`, in this process and environment."""
    return _vlrb("judge", arguments)


def edition_main(arguments: list[str]) -> int:
    """`vlrb edition`, in this process and environment."""
    return _vlrb("edition", arguments)


def numbers_main(arguments: list[str]) -> int:
    """`vlrb numbers`, in this process and environment."""
    return _vlrb("numbers", arguments)


def _vlrb(command: str, arguments: list[str]) -> int:
    from vlrb.cli import main

    return main([command, *arguments])


def run_worker(*arguments: str, environ: Mapping[str, str] | None = None) -> Finished:
    """`python -m workers`."""
    from workers.__main__ import main

    return run_main(lambda given: main(given), arguments, environ=environ)


def run_main(
    main: Callable[[list[str]], Any],
    arguments: tuple[str, ...],
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Finished:
    """Return what `main` prints and its exit code; nothing that it sets for its process stays.

    `environ`: all of its environment; None: that of the tests. `folder`: its working directory.
    """
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.ExitStack() as stack:
        stack.enter_context(_process_state())
        stack.enter_context(mock.patch.dict(os.environ, environ or {}, clear=environ is not None))
        stack.enter_context(contextlib.chdir(folder or Path.cwd()))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        code = _exit_code(main, list(arguments))
    return subprocess.CompletedProcess(arguments, code, _text(out), _text(err))


def _exit_code(main: Callable[[list[str]], Any], arguments: list[str]) -> int:
    try:
        return int(main(arguments) or 0)
    except SystemExit as ended:  # argparse
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
            return 1
        return ended.code or 0
    except Exception:
        traceback.print_exception(*sys.exc_info(), file=sys.stderr)
        return 1


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode() if isinstance(stream.buffer, io.BytesIO) else ""


@contextlib.contextmanager
def _process_state() -> Iterator[None]:
    """Put back what a program sets for its process: logging, hooks, handlers of signals."""
    root = logging.getLogger()
    loggers = [root, *map(logging.getLogger, ("httpx", "httpx2"))]
    handlers, levels = list(root.handlers), [logger.level for logger in loggers]
    hooks = [(owner, name, getattr(owner, name)) for owner, name in _HOOKS]
    signals = {sign: signal.getsignal(sign) for sign in _SIGNALS}
    showing, mask = warnings.showwarning, os.umask(0o022)
    os.umask(mask)
    try:
        yield
    finally:
        os.umask(mask)
        logging.captureWarnings(False)
        warnings.showwarning = showing
        root.handlers[:] = handlers
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        for owner, name, value in hooks:
            setattr(owner, name, value)
        for sign, handler in signals.items():
            signal.signal(sign, handler)
