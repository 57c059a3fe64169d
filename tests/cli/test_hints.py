# SPDX-License-Identifier: Apache-2.0
"""One line of advice for what today's Python and TensorFlow no longer have."""

from __future__ import annotations

import pytest

from tfqueue_compat.cli.hints import hint


def error_of(text: str) -> BaseException:
    try:
        exec(compile(text, "old.py", "exec"), {})
    except Exception as e:
        return e
    raise AssertionError("no error")


@pytest.mark.parametrize("text, advice", [
    ("print 'x'", "Python 2, line 1"),
    ("try: pass\nexcept ValueError, e: pass", "Python 2, line 2"),
    ("raise ValueError, 'x'", "Python 2"),
    ("exec 'x'", "Python 2"),
    ("x = 0777", "Python 2"),
    ("x = 1 <> 2", "Python 2"),
    ("if 1:\n        x = 1\n\ty = 2", "Python 2"),
    ("xrange(3)", "write range"),
    ("{}.iteritems()", "write items()"),
    ("{}.has_key(1)", "write in"),
    ("import cPickle", "import pickle"),
    ("import tensorpack_.x", None),
    ("(3).value", "drop the .value"),
    ("import tfqueue_compat.no_such_room", "no_such_room"),
    ("x = (", None),
    ("y", None),
    ("1 / 0", None),
])
def test_hint(text: str, advice: str | None) -> None:
    said = hint(error_of(text))
    assert said is None if advice is None else advice in (said or ""), said
