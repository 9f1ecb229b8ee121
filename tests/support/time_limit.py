"""A time limit for calls that take far longer if their cost grows with the square of the input."""

import signal
from contextlib import contextmanager


@contextmanager
def time_limit(seconds):
    """Raise TimeoutError in the block after so many seconds, if the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_):
        msg = f"not done after {seconds} seconds"
        raise TimeoutError(msg)

    previous_handler = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous_handler)
