# SPDX-License-Identifier: Apache-2.0
"""SIGINT is noticed while the main thread can't handle it, and only then."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mutexes and fork as Linux has")

# The package without its __init__, which would load TensorFlow.
SETUP = """
import ctypes, os, signal, sys, threading, time, types, tfqueue_compat
engine = sys.modules["tfqueue_compat.engine"] = types.ModuleType("tfqueue_compat.engine")
engine.__path__ = [os.path.join(tfqueue_compat.__path__[0], "engine")]
from tfqueue_compat.engine.interrupt import InterruptWatch

watch = InterruptWatch()
watch.arm()

def block():  # in C, where no signal ends it
    libc, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(128)
    libc.pthread_mutex_lock(mutex)
    libc.pthread_mutex_lock(mutex)

def soon(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()

def leave(text):
    print(text, flush=True)
    os._exit(0)
"""


def test_a_main_thread_that_is_blocked(fresh_process: Callable[..., str]) -> None:
    assert fresh_process(SETUP + """
def other():
    time.sleep(0.1)
    before = watch.fired()
    os.kill(os.getpid(), signal.SIGINT)
    leave((before, soon(watch.fired)))
threading.Thread(target=other).start()
block()
""") == "(False, True)"


def test_a_main_thread_that_handles_it_itself(fresh_process: Callable[..., str]) -> None:
    assert fresh_process(SETUP + """
handled = 0
for _ in range(3):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    except KeyboardInterrupt:
        handled += 1
print(handled, soon(watch.fired, 0.5))
""") == "3 False"


@pytest.mark.parametrize("handler", ["signal.SIG_IGN", "signal.SIG_DFL"])
def test_a_signal_that_nobody_handles_in_python(
        fresh_process: Callable[..., str], handler: str) -> None:
    if handler == "signal.SIG_DFL":
        with pytest.raises(AssertionError):  # the process ends by it, as it always did
            fresh_process(SETUP.replace("watch = Int", f"signal.signal(signal.SIGINT, {handler})\n"
                                        "watch = Int") + "os.kill(os.getpid(), 2); time.sleep(5)")
        return
    assert fresh_process(SETUP.replace(
        "watch = Int", f"signal.signal(signal.SIGINT, {handler})\nwatch = Int") + """
os.kill(os.getpid(), signal.SIGINT)
print(soon(watch.fired, 0.5))
""") == "False"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_childs_signal_is_not_its_parents(fresh_process: Callable[..., str]) -> None:
    assert fresh_process(SETUP + """
def other():
    child = os.fork()
    if not child:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            os._exit(7)
        os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    leave((code, soon(watch.fired, 0.5)))
threading.Thread(target=other).start()
block()
""") == "(7, False)"


def test_after_disarm_python_has_its_signal_back(fresh_process: Callable[..., str]) -> None:
    assert fresh_process(SETUP + """
others = [InterruptWatch() for _ in range(3)]
for w in others:
    w.arm(); w.arm()
for w in [watch, *others]:
    w.disarm(); w.disarm()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    print("handled", watch.fired())
""") == "handled False"
