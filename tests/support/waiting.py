"""Waiting for an event, such as a file that another process writes."""

import time


def wait_until(condition, *, seconds=60, every=0.01):
    """Return the value of a condition as soon as it is true; raise TimeoutError if it never is.

    Args:
        condition: a function without arguments.
        seconds: when to give up: far later than the event happens on a slow machine.
        every: the seconds between two calls of the condition.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            msg = f"what is waited for has not happened in {seconds} seconds"
            raise TimeoutError(msg)
        time.sleep(every)
    return value
