# SPDX-License-Identifier: Apache-2.0
"""A monitor that sends to comet.ml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..utils.errors import require
from .monitor_base import MonitorBase

__all__ = ["CometMLMonitor"]


class CometMLMonitor(MonitorBase):
    """Sends numbers, images and the graph to comet.ml. Needs the package ``comet_ml``.

    Args:
        experiment: a ``comet_ml.Experiment``; the other arguments are not used then.
        tags: tags of the experiment.
        **kwargs: as for ``comet_ml.Experiment``, e.g. its project and key.
    """

    def __init__(self, experiment: Any = None, tags: Any = None, **kwargs: Any) -> None:
        if experiment is None:
            comet = require("comet_ml", "comet_ml", "CometMLMonitor")
            kwargs.setdefault("log_code", True)
            kwargs.setdefault("auto_output_logging", None)  # it would hold back the progress bar
            experiment = comet.Experiment(**kwargs)
            if tags is not None:
                experiment.add_tags(tags)
        self._exp = experiment

    @property
    def experiment(self) -> Any:
        """The ``comet_ml.Experiment``."""
        return self._exp

    def _before_train(self) -> None:
        self._exp.set_model_graph(self.graph)

    def process_scalar(self, name: str, val: Any) -> None:
        """Send a number."""
        self._exp.log_metric(name, val, step=self.global_step)

    def process_image(self, name: str, val: np.ndarray) -> None:
        """Send images."""
        for k, image in enumerate(val):
            full = name if len(val) == 1 else f"{name}_{k}"
            self._exp.log_image(image.astype("uint8"), name=full, step=self.global_step)

    def _after_epoch(self) -> None:
        self._exp.log_epoch_end(self.epoch_num)

    def _after_train(self) -> None:
        self._exp.end()
