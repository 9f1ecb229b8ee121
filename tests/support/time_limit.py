"""A limit on time for what would take far longer if its cost grew with the square of the input."""

import signal
from contextlib import contextmanager


@contextmanager
def time_limit(seconds):
    """Raise TimeoutError inside the block after so many seconds, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_):
        msg = f"not done after {seconds} seconds"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
