# SPDX-License-Identifier: Apache-2.0
"""Small helps, profilers, hooks, and what runs beside a training."""

from __future__ import annotations

import json
import multiprocessing as mp
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import (Callback, EnableCallbackIf, EstimatedTimeLeft,
                                      GPUUtilizationTracker, GraphProfiler, HookToCallback,
                                      HostMemoryTracker, InjectShell, PeakMemoryTracker, SendStat,
                                      StartProcOrThread, ThroughputTracker)
from tfqueue_compat.utils.concurrency import LoopThread

v1 = tf.compat.v1


class Sleep(Callback):
    def __init__(self, step: float = 0, epoch: float = 0) -> None:
        self.step, self.epoch = step, epoch

    def _trigger_step(self) -> None:
        time.sleep(self.step)

    def _trigger_epoch(self) -> None:
        time.sleep(self.epoch)


def test_throughput_leaves_out_the_ends_of_epochs(machine: Any, catch: Any) -> None:
    # each step takes 0.02 s and more; each epoch's end 0.3 s, which would make it 4 steps less
    machine.train([ThroughputTracker(), ThroughputTracker(10), Sleep(0.02, 0.3)],
                  steps=10, epochs=3, monitors=[catch])
    steps = [rate for _, rate in catch.of("Throughput (steps/sec)")]
    samples = [rate for _, rate in catch.of("Throughput (samples/sec)")]
    assert len(steps) == len(samples) == 3
    assert all(rate <= 50 for rate in steps) and max(steps[1:]) > 25
    assert samples == pytest.approx([10 * rate for rate in steps], rel=0.05)


def test_the_time_left(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine.train([EstimatedTimeLeft(), Sleep(epoch=0.5)], steps=1, epochs=3)
    lines = [line for line in capsys.readouterr().out.splitlines() if "Time Left" in line]
    assert len(lines) == 2  # none is left after the last


def test_free_memory_is_that_of_the_machine(machine: Any, catch: Any) -> None:
    psutil = pytest.importorskip("psutil")
    machine.train([HostMemoryTracker()], epochs=1, monitors=[catch])
    (_, free), = catch.of("HostFreeMemory (GB)")
    assert 0 < free < psutil.virtual_memory().total / 2**30


def test_profiles_of_the_steps_that_are_asked_for(machine: Any, log_dir: Path,
                                                  catch: Any) -> None:
    profiler = GraphProfiler(dump_metadata=True, dump_tracing=True, dump_event=True)
    machine.train([EnableCallbackIf(profiler, lambda self: self.global_step == 1)],
                  steps=3, epochs=1, monitors=[catch])
    assert sorted(p.name for p in log_dir.glob("*-*.*")) == [
        "chrome-trace-2.json", "runmetadata-2.pb"]
    metadata = v1.RunMetadata.FromString((log_dir / "runmetadata-2.pb").read_bytes())
    names = {node.node_name for d in metadata.step_stats.dev_stats for node in d.node_stats}
    assert any("cost" in name or "train_op" in name or "AssignAdd" in name for name in names)
    assert json.loads((log_dir / "chrome-trace-2.json").read_text())["traceEvents"]
    assert [e.tagged_run_metadata.tag for e in catch.events] == ["global_step-2"]
    assert [e.step for e in catch.events] == [2]


@pytest.mark.skipif(bool(tf.config.list_physical_devices("GPU")), reason="there is a GPU")
def test_without_a_gpu_its_trackers_say_so(machine: Any, catch: Any,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    machine.train([GPUUtilizationTracker([]), PeakMemoryTracker(), PeakMemoryTracker(["/gpu:1"])],
                  monitors=[catch])
    out = capsys.readouterr().out
    assert "There is no GPU" in out and "sees no gpu:0" in out and "sees no gpu:1" in out
    assert catch.scalars == []


def test_a_command_with_the_last_numbers(machine: Any, tmp_path: Path,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    class Put(Callback):
        def _trigger(self) -> None:
            self.trainer.monitors.put_scalar("error", self.epoch_num)

    log = tmp_path / "sent"
    machine.train([Put(), SendStat(f"echo {{error}} >> {log}", "error"),
                   SendStat("exit 3", ["error"])])
    assert log.read_text().split() == ["1", "2"]
    assert "failed with exit status 3" in capsys.readouterr().out
    with pytest.raises(ValueError, match="other"):
        type(machine)().train([Put(), SendStat("echo {other}", "error")])


def test_a_shell_opens_when_the_file_is_there(machine: Any, tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    import pdb
    opened: list[int] = []
    monkeypatch.setattr(pdb, "set_trace", lambda: opened.append(machine.epoch_num))
    file = tmp_path / "shell"

    class Touch(Callback):
        def _trigger(self) -> None:
            if self.epoch_num == 2:
                file.touch()

    machine.train([Touch(), InjectShell(str(file), "pdb")], epochs=2)
    assert opened == [2] and not file.exists()
    with pytest.raises(ValueError, match="'ipython' or 'pdb'"):
        InjectShell(shell="bash")


def test_a_session_hook_is_a_callback(machine: Any) -> None:
    calls: list[Any] = []

    class Hook(v1.train.SessionRunHook):  # type: ignore[misc]
        def begin(self) -> None:
            self.tensor = tf.constant(7, name="of_hook")
            calls.append(self.tensor.name)

        def after_create_session(self, session: Any, coord: Any) -> None:
            calls.append((session is machine.sess, coord))

        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs(self.tensor)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            calls.append(int(run_values.results))

        def end(self, session: Any) -> None:
            calls.append("end")

    machine.train([HookToCallback(Hook())], steps=2, epochs=1)
    assert calls == ["of_hook:0", (True, None), 7, 7, "end"]
    with pytest.raises(TypeError, match="SessionRunHook"):
        HookToCallback(Hook)


def test_threads_and_processes_begin_and_end_with_training(machine: Any) -> None:
    beats: list[int] = []
    thread = LoopThread(lambda: (beats.append(1), time.sleep(0.001)), pausable=False)
    process = mp.get_context("spawn").Process(target=time.sleep, args=(600,))

    class Alive(Callback):
        def _trigger_step(self) -> None:
            assert thread.is_alive() and process.is_alive()

    machine.train([StartProcOrThread([thread, process]), Alive()])
    assert not thread.is_alive() and not process.is_alive() and beats


def test_they_end_with_a_training_that_fails(machine: Any) -> None:
    class Fail(Callback):
        def _trigger_step(self) -> None:
            raise OSError("mine")

    thread = LoopThread(lambda: time.sleep(0.001))
    with pytest.raises(OSError, match="mine"):
        machine.train([StartProcOrThread(thread), Fail()])
    assert not thread.is_alive()


def test_what_can_not_be_ended_is_left_alone(machine: Any) -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    machine.train([StartProcOrThread(thread)])
    assert thread.is_alive()
    done.set()
    thread.join()
    with pytest.raises(TypeError, match="an object with start"):
        StartProcOrThread(3)
