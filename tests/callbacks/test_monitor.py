# SPDX-License-Identifier: Apache-2.0
"""What monitors hear and write, read back by TensorFlow's reader and by json."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import (Callback, JSONWriter, MergeAllSummaries, Monitors,
                                      ScalarPrinter, SendMonitorData, TFEventWriter)
from tfqueue_compat.callbacks.monitor import NoOpMonitor, image_to_nhwc

v1 = tf.compat.v1


class Put(Callback):
    def __init__(self, put: Any) -> None:
        self.put = put

    def _trigger(self) -> None:
        self.put(self.trainer.monitors)


def events(folder: Path) -> list[Any]:
    return [v1.Event.FromString(record.numpy()) for path in sorted(folder.glob("events.*"))
            for record in tf.data.TFRecordDataset(str(path))]


def test_scalars_of_all_kinds(machine: Any, catch: Any) -> None:
    values = [3, np.float32(2.5), np.int64(4), True, np.array([7.5]), tf.constant(1).shape.rank]
    machine.train([Put(lambda m: [m.put_scalar("s", v) for v in values])], epochs=1,
                  monitors=[catch])
    got = [value for _, value in catch.of("s")]
    assert got == [3, 2.5, 4, True, 7.5, 0]
    assert [type(v) for v in got] == [int, float, int, bool, float, int]


def test_what_is_no_number(machine: Any) -> None:
    with pytest.raises(TypeError, match=r"put_scalar\('x'\): Expected a number"):
        machine.train([Put(lambda m: m.put_scalar("x", "many"))])


def test_tags_lose_their_tower_and_summary(machine: Any, catch: Any) -> None:
    def put(m: Any) -> None:
        summary = v1.Summary()
        for tag in ("tower0/a-summary", "tower13/b/c", "tower/d", "my-summary-x"):
            summary.value.add(tag=tag, simple_value=1)
        m.put_summary(summary.SerializeToString())

    machine.train([Put(put)], epochs=1, monitors=[catch])
    assert catch.tags == ["a", "b/c", "tower/d", "my-summary-x"]
    assert [name for _, name, _ in catch.scalars] == catch.tags


def test_history(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine.train([Put(lambda m: m.put_scalar("a", machine.epoch_num * 10))], steps=3, epochs=2)
    assert machine.monitors.get_history("a") == [(3, 10), (6, 20)]
    assert machine.monitors.get_latest("a") == 20
    assert machine.monitors.get_history("b") == []
    with pytest.raises(KeyError, match="monitor 'aa'.*Did you mean 'a'"):
        machine.monitors.get_latest("aa")


@pytest.mark.parametrize("shape, expected", [((4, 5), (1, 4, 5, 1)), ((4, 5, 3), (1, 4, 5, 3)),
                                             ((2, 4, 5, 1), (2, 4, 5, 1))])
def test_images(shape: Any, expected: Any) -> None:
    assert image_to_nhwc(np.zeros(shape)).shape == expected


def test_no_images() -> None:
    for shape in ((4,), (4, 5, 2), (1, 1, 1, 1, 1)):
        with pytest.raises(ValueError, match="Transpose or reshape"):
            image_to_nhwc(np.zeros(shape))


def test_event_files_are_tensorboards(machine: Any, log_dir: Path) -> None:
    image = np.arange(60, dtype="uint8").reshape(4, 5, 3)

    def put(m: Any) -> None:
        m.put_scalar("mine", 1.5)
        m.put_image("picture", image)
        m.put_event(v1.Event(summary=v1.Summary(value=[
            v1.Summary.Value(tag="event", simple_value=3)])))

    machine.train([Put(put), MergeAllSummaries()], epochs=2, monitors=[TFEventWriter()])
    found = events(log_dir)
    assert found[0].file_version == "brain.Event:2"
    graph = v1.GraphDef.FromString(found[1].graph_def)
    assert {"w", "cost"} <= {node.name for node in graph.node}
    tags = [(e.step, v.tag, v.WhichOneof("value")) for e in found[2:] for v in e.summary.value]
    once = [("w", "simple_value"), ("weights", "histo"), ("mine", "simple_value"),
            ("picture", "image"), ("event", "simple_value")]
    assert tags == [(step, *tag) for step in (2, 4) for tag in once]
    png = next(v.image for e in found for v in e.summary.value if v.tag == "picture")
    assert (tf.io.decode_png(png.encoded_image_string).numpy() == image).all()


def test_event_files_may_be_split(machine: Any, tmp_path: Path) -> None:
    machine.train([Put(lambda m: m.put_scalar("a", 1))], epochs=3,
                  monitors=[TFEventWriter(str(tmp_path), split_files=True)])
    assert len(list(tmp_path.glob("events.*"))) == 4
    assert [e.step for e in events(tmp_path) if e.summary.value] == [2, 4, 6]


def test_stats_json(machine: Any, log_dir: Path) -> None:
    machine.train([Put(lambda m: m.put_scalar("mine", 1.5)), MergeAllSummaries(period=2)],
                  steps=3, epochs=2, monitors=[JSONWriter()])
    stats = json.loads((log_dir / "stats.json").read_text())
    assert [list(record) for record in stats] == [
        ["w", "epoch_num", "global_step"], ["w", "mine", "epoch_num", "global_step"]] * 2
    assert [(r["epoch_num"], r["global_step"]) for r in stats] == [(1, 2), (1, 3), (2, 5), (2, 6)]


def test_stats_json_goes_on(machine: Any, log_dir: Path) -> None:
    put = Put(lambda m: m.put_scalar("a", float("nan")))
    machine.train([put], epochs=1, monitors=[JSONWriter()])
    assert JSONWriter.load_existing_epoch_number() == 1
    type(machine)().train([put], first=2, epochs=3, monitors=[JSONWriter()])
    stats = JSONWriter.load_existing_json()
    assert stats is not None and [r["epoch_num"] for r in stats] == [1, 2, 3]
    assert math.isnan(stats[0]["a"])


def test_stats_json_of_another_training_is_kept_aside(
        machine: Any, log_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (log_dir / "stats.json").write_text('[{"a": 1, "epoch_num": 7, "global_step": 3}]')
    machine.train([Put(lambda m: m.put_scalar("b", 1))], epochs=1, monitors=[JSONWriter()])
    assert "set starting_epoch=8" in capsys.readouterr().out
    assert [r["b"] for r in JSONWriter.load_existing_json() or []] == [1]
    kept, = log_dir.glob("stats.json.*")
    assert json.loads(kept.read_text())[0]["epoch_num"] == 7


def test_what_was_reported_before_an_error_is_written(machine: Any, log_dir: Path) -> None:
    class Fail(Callback):
        def _trigger(self) -> None:
            raise OSError("later")

    with pytest.raises(OSError):
        machine.train([Put(lambda m: m.put_scalar("a", 1)), Fail()], monitors=[JSONWriter()])
    assert JSONWriter.load_existing_json() == [{"a": 1, "epoch_num": 1, "global_step": 2}]


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    assert JSONWriter.load_existing_json(str(tmp_path)) is None
    (tmp_path / "stats.json").write_text("[{")
    with pytest.raises(ValueError, match="stats.json: Expected a JSON list"):
        JSONWriter.load_existing_json(str(tmp_path))


def test_without_a_directory_writers_do_nothing(machine: Any,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    writers = [JSONWriter(), TFEventWriter()]
    assert all(type(w) is NoOpMonitor for w in writers)
    machine.train([Put(lambda m: m.put_scalar("a", 1))], monitors=writers)
    assert capsys.readouterr().out.count("No log directory is set") == 2


@pytest.mark.parametrize("kwargs, lines", [
    ({}, ["a: 123.46", "bb: 2"]), ({"whitelist": ["b"]}, ["bb: 2"]),
    ({"blacklist": ["^b"]}, ["a: 123.46"]), ({"enable_epoch": False}, []),
    ({"enable_epoch": False, "enable_step": True}, ["s: 1"]),
    ({"enable_step": True}, ["a: 123.46", "bb: 2", "s: 1"])])
def test_the_console(kwargs: Any, lines: list[str], machine: Any,
                     capsys: pytest.CaptureFixture[str]) -> None:
    class Step(Callback):
        def _trigger_step(self) -> None:
            if self.local_step == 0 and "enable_step" in kwargs:
                self.trainer.monitors.put_scalar("s", 1)

    def put(m: Any) -> None:
        m.put_scalar("bb", 2)
        m.put_scalar("a", 123.4567)

    machine.train([Step(), Put(put)], epochs=1, monitors=[ScalarPrinter(**kwargs)])
    out = capsys.readouterr().out
    said = [line.split("] ")[1] for line in out.splitlines() if "writers.py" in line]
    assert sorted(said) == lines


def test_a_command_gets_all_its_numbers_at_once(machine: Any, tmp_path: Path) -> None:
    log = tmp_path / "sent"

    class Two(Callback):
        def _trigger_step(self) -> None:
            self.trainer.monitors.put_scalar("ab"[self.local_step % 2], self.global_step)

    machine.train([Two()], steps=4, epochs=1,
                  monitors=[SendMonitorData(f"echo {{a}} {{b}} >> {log}", ["a", "b"])])
    assert log.read_text().splitlines() == ["1 2", "3 4"]


def test_monitors_are_monitors() -> None:
    with pytest.raises(TypeError, match="Pass callbacks as callbacks="):
        Monitors([Callback()])  # type: ignore[list-item]
