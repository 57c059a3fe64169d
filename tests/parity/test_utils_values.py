# SPDX-License-Identifier: Apache-2.0
"""Pictures and numbers of the small tools, side by side with real tensorpack's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfqueue_compat.utils import palette, stats, utils, viz

pytestmark = pytest.mark.parity

PEER = """
import numpy as np
if not hasattr(np, 'object'):
    np.object = object  # viz of 0.11 asks for it
from tensorpack.utils import palette, stats, utils, viz
exec(inputs['code'])
"""
CODE = """
rng = np.random.RandomState(0)
a = rng.randint(0, 255, (5, 20, 30, 3)).astype('uint8')
image = rng.randint(0, 255, (100, 120, 3)).astype('uint8')
boxes = np.array([[10, 10, 50, 60], [5, 20, 100, 90], [60, 30, 70, 40]], 'float32')
outputs['stack'] = viz.stack_patches(a, 2, 3)
outputs['stack grey'] = viz.stack_patches(a[..., 0], 3, 2, border=4, bgcolor=7)
outputs['stack colour'] = viz.stack_patches(a, 2, 3, bgcolor=(1, 2, 3))
outputs['stack pad'] = viz.stack_patches([a[0], a[1, :10, :12], a[2, :15, :7]], 1, 3, pad=True,
                                         bgcolor=100)
outputs['gen'] = next(viz.gen_stack_patches(a[:4], 2, 2))
outputs['boxes'] = viz.draw_boxes(image, boxes)
outputs['boxes grey'] = viz.draw_boxes(image[..., 0], boxes)
outputs['boxes labels'] = viz.draw_boxes(image, boxes, ['a', 'bb', 'a'])
outputs['boxes colour'] = viz.draw_boxes(image, boxes, ['a', 'bb', 'a'], color=(1, 2, 3))
outputs['text'] = viz.draw_text(image, (3, 5), 'hello', (1, 2, 3))
outputs['text edge'] = viz.draw_text(image, (110, 50), 'hello', (1, 2, 3), 0.6)
outputs['palette'] = palette.PALETTE_RGB
s = stats.BinaryStatistics()
s.feed(rng.randint(0, 2, 50), rng.randint(0, 2, 50))
outputs['binary'] = [s.precision, s.recall, s.false_positive, s.false_negative]
m = stats.OnlineMoments()
for v in rng.rand(9):
    m.feed(v)
outputs['moments'] = [m.mean, m.variance, m.std]
outputs['time'] = [utils.humanize_time_delta(s) for s in (0, 0.5, 1, 59, 61.5, 3661, 90061)]
"""


def test_same_values(peer: Any) -> None:
    pytest.importorskip("cv2")
    theirs = peer(PEER, code=CODE)
    ours: dict[str, Any] = {}
    exec(CODE, {"np": np, "palette": palette, "stats": stats, "utils": utils, "viz": viz,
                "outputs": ours})
    assert ours["time"] == theirs.pop("time")
    for name, want in theirs.items():
        np.testing.assert_allclose(ours[name], want, rtol=1e-6, err_msg=name)
        assert np.asarray(ours[name]).dtype == np.asarray(want).dtype, name
