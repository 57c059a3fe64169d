# SPDX-License-Identifier: Apache-2.0
"""Programs that end while their threads are in the midst of C++."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PRODUCER = """
    import threading
    import cv2, numpy as np
    from tfqueue_compat.dataflow import DataFromGenerator, MultiThreadMapData, MultiThreadRunner
    image, busy = np.random.rand(3000, 3000, 3).astype('float32'), threading.Event()

    def blur(dp):
        busy.set()
        cv2.GaussianBlur(image, (31, 31), 5)
        return dp

    def numbers():
        while True:
            yield [np.float32(1)]
    """

USES = {
    "thread runner": """
        df = MultiThreadRunner(lambda: DataFromGenerator(map(blur, numbers())), 2, 1)
        """,
    "thread map": """
        df = MultiThreadMapData(DataFromGenerator(numbers), 2, blur, buffer_size=4)
        """,
    "queue": """
        from tfqueue_compat import QueueInput
        df = QueueInput(DataFromGenerator(map(blur, numbers())))
        """,
    "queue over a thread map": """
        from tfqueue_compat import QueueInput
        df = QueueInput(MultiThreadMapData(DataFromGenerator(numbers), 2, blur, buffer_size=4))
        """,
}


def run(code: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    lines = [line[4:] for line in PRODUCER.splitlines()] + [line[8:] for line in code.splitlines()]
    file = tmp_path / "program.py"
    file.write_text("\n".join(lines))
    return subprocess.run([sys.executable, str(file)], capture_output=True, text=True)


@pytest.mark.parametrize("use", USES)
def test_a_program_that_ends_within_a_datapoint_is_no_crash(use: str, tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    done = run(USES[use] + """
        if hasattr(df, 'reset_state'):
            df.reset_state()
        iterator = iter(df)
        next(iterator)
        busy.clear()
        busy.wait(10)
        print('end')
        """, tmp_path)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_a_thread_that_waits_for_good_does_not_keep_a_program_from_ending(tmp_path: Path) -> None:
    done = run("""
        import queue
        from tfqueue_compat import QueueInput
        from tfqueue_compat.dataflow import DataFromQueue
        source = queue.Queue()
        source.put([np.float32(1)])
        iterator = iter(QueueInput(DataFromQueue(source)))
        print(next(iterator)[0].numpy())
        """, tmp_path)
    assert (done.returncode, done.stdout) == (0, "1.0\n"), done.stderr
