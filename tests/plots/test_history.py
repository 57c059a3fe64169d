# SPDX-License-Identifier: Apache-2.0
"""Training curves and the queue's history, drawn from a training's own stats.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tfqueue_compat.plots import draw_history, draw_queue_history, load_stats

STATS: list[dict[str, Any]] = [
    {"epoch_num": e, "global_step": 10 * e, "train_error": 1 / e, "val_error": 2 / e,
     "validation_cost": 3.0 * e, "lr": 0.1, "QueueInput/queue_size": 40.0,
     "QueueInput/model_waited": 0.01 * e, "QueueInput/data_waited": 0.2 * e}
    for e in (1, 2, 3)]


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    (tmp_path / "stats.json").write_text(json.dumps(STATS))
    return tmp_path


def lines(axes: Any) -> dict[str, list[tuple[float, float]]]:
    return {line.get_label(): [(float(a), float(b)) for a, b in line.get_xydata()]
            for line in axes.lines}


def test_names_of_one_thing_share_a_plot_and_hold_their_numbers(logdir: Path) -> None:
    picture = draw_history(logdir)
    assert [a.get_ylabel() for a in picture.axes] == ["error", "cost", "lr"]
    assert lines(picture.axes[0]) == {
        "train_error": [(1, 1.0), (2, 0.5), (3, 1 / 3)],
        "val_error": [(1, 2.0), (2, 1.0), (3, 2 / 3)]}
    assert lines(picture.axes[1]) == {"validation_cost": [(1, 3.0), (2, 6.0), (3, 9.0)]}


def test_names_can_be_chosen_and_another_x_axis(logdir: Path) -> None:
    picture = draw_history(load_stats(logdir), names=["lr"], x="global_step")
    assert lines(picture.axes[0]) == {"lr": [(10, 0.1), (20, 0.1), (30, 0.1)]}
    assert len(draw_history(logdir, names="error$").axes) == 1
    with pytest.raises(ValueError, match="Expected names that match 'loss'.*train_error"):
        draw_history(logdir, names="loss")


def test_a_number_that_came_late_starts_late() -> None:
    picture = draw_history([{"epoch_num": 1, "a": 1.0}, {"epoch_num": 2, "a": 2.0, "b": 5.0}])
    assert lines(picture.axes[1]) == {"b": [(2, 5.0)]}


def test_the_queue_s_verdict_is_the_mean_of_the_epochs(logdir: Path) -> None:
    picture = draw_queue_history(logdir)
    assert "the dataflow waited for the model 40% of the time" in picture.axes[0].get_title()
    assert list(lines(picture.axes[0]).values()) == [[(1, 40.0), (2, 40.0), (3, 40.0)]]
    with pytest.raises(ValueError, match="QueueInput/queue_size"):
        draw_queue_history([{"epoch_num": 1, "a": 1.0}])


def test_a_picture_saves_and_shows_itself(logdir: Path) -> None:
    picture = draw_history(logdir)
    path = Path(picture.save(logdir / "new" / "curves.png"))
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" == picture._repr_png_()[:8]


@pytest.mark.parametrize("text", ["", "{}", "[1]", "not json"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "stats.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="Expected a JSON list of records"):
        load_stats(path)
    with pytest.raises(FileNotFoundError, match="set_logger_dir"):
        load_stats(tmp_path / "nowhere")
