# SPDX-License-Identifier: Apache-2.0
"""How full the input's queue is, for the monitors: is the data or the model the bottleneck?"""

from __future__ import annotations

from typing import Any

from ..engine.hooks import Callback
from ..engine.meter import Reading
from ..utils import logger

__all__ = ["QueueSize", "meter_of"]


class QueueSize(Callback):
    """Reports how many datapoints waited in an input's queue, on average over the steps.

    The name is that of tensorpack's summary, e.g. ``QueueInput/queue_size``; it is reported with
    the last step of each epoch, and every ``period`` steps. With it, each epoch, go the shares of
    the time that each side waited for the other, ``QueueInput/model_waited`` and
    ``QueueInput/data_waited``; a line in the log says which of them is the bottleneck.
    ``trainer.input_meter`` is the meter.

    Args:
        source: the input source; one that has no queue, also inside of others, is not reported.
        period: in steps; 0 for none.
    """

    def __init__(self, source: Any, period: int = 0) -> None:
        self._owner, self.meter = meter_of(source)
        self._period = int(period)
        self._total = self._count = 0
        self._before = Reading()
        self._verdict = self._before.verdict()

    def _setup_graph(self) -> None:
        self.trainer.input_meter = self.meter

    def _before_epoch(self) -> None:
        if self.meter is not None:
            self._before = self.meter.read()

    def _trigger_step(self) -> None:
        if self.meter is None:
            return
        self._total += self.meter.occupancy
        self._count += 1
        step = self.local_step + 1
        last = step == self.trainer.steps_per_epoch
        if last or self._period and step % self._period == 0:
            self.trainer.monitors.put_scalar(f"{self._owner}/queue_size",
                                             self._total / self._count)
            self._total = self._count = 0
        if last:
            self._report(self.meter.read().since(self._before))

    def _report(self, epoch: Reading) -> None:
        self.trainer.monitors.put_scalar(f"{self._owner}/model_waited", epoch.model_waited)
        self.trainer.monitors.put_scalar(f"{self._owner}/data_waited", epoch.data_waited)
        self._verdict = epoch.verdict()

    def _trigger_epoch(self) -> None:
        if self.meter is not None:
            logger.info("%s: %s", self._owner, self._verdict)


def meter_of(source: Any) -> tuple[str, Any]:
    """Return the class name of the source that has a queue, and its meter; or ("", None).

    Args:
        source: an input source, or one around it.
    """
    while source is not None:
        meter = getattr(source, "meter", None)
        if meter is not None:
            return type(source).__name__, meter
        source = getattr(source, "_input", None)
    return "", None
