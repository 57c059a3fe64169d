# SPDX-License-Identifier: Apache-2.0
"""The rewriter: text in, text out, and no line moves."""

from __future__ import annotations

import ast
import builtins
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfqueue_compat.cli.rewrite import Options, rewrite

TFV1 = "tfqueue_compat.compat.tfv1"

IMPORTS = [
    ("import tensorpack", "import tfqueue_compat as tensorpack"),
    ("import tensorpack as tp", "import tfqueue_compat as tp"),
    ("import tensorpack.dataflow as df", "import tfqueue_compat.dataflow as df"),
    ("import tensorpack.dataflow",
     "import tfqueue_compat.dataflow, tfqueue_compat as tensorpack"),
    ("from tensorpack import *", "from tfqueue_compat import *"),
    ("from tensorpack import QueueInput as Q", "from tfqueue_compat import QueueInput as Q"),
    ("from tensorpack.utils import logger", "from tfqueue_compat.utils import logger"),
    ("import tensorflow as tf", f"import {TFV1} as tf"),
    ("import tensorflow", f"import {TFV1} as tensorflow"),
    ("import tensorflow.compat.v1 as tf", f"import {TFV1} as tf"),
    ("import tensorflow.contrib.slim as slim", f"import {TFV1}.contrib.slim as slim"),
    ("import tensorflow.contrib.slim",
     f"import {TFV1}.contrib.slim, {TFV1} as tensorflow"),
    ("import tensorflow.keras.layers as layers", f"import {TFV1}.keras_layers as layers"),
    ("from tensorflow import layers, nn", f"from {TFV1} import layers, nn"),
    ("from tensorflow.contrib.layers import l2_regularizer as l2",
     f"from {TFV1}.contrib.layers import l2_regularizer as l2"),
    ("import os, tensorflow as tf, sys", f"import os, {TFV1} as tf, sys"),
    ("import imp", "import tfqueue_compat.cli.old_imp as imp"),
    ("from imp import reload", "from tfqueue_compat.cli.old_imp import reload"),
    ("from collections import Iterable", "from collections.abc import Iterable"),
    ("importlib.import_module('tensorpack.models')",
     "importlib.import_module('tfqueue_compat.models')"),
    ("__import__('tensorpack.models')", "__import__('tfqueue_compat.models')"),
    ("try: import tensorpack as t\nexcept ImportError: t = None",
     "try: import tfqueue_compat as t\nexcept ImportError: t = None"),
]

KEPT = [
    "from tensorflow.python.client import device_lib",
    "import tensorflow.keras.losses as losses",
    "from tensorflow.core.framework import summary_pb2",
    "import tensorpack_of_mine",
    "from . import tensorpack",
    "from .tensorflow import x",
    "import tensorflow_datasets as tfds",
    "x = 'import tensorpack'  # import tensorflow as tf",
    "tensorpack = tensorflow = 1",
    "import numpy as np\nx = np.float32, np.int_, np.bool_",
    "from collections import OrderedDict, namedtuple",
]


@pytest.mark.parametrize("old, new", IMPORTS, ids=[old for old, _ in IMPORTS])
def test_import_moves(old: str, new: str) -> None:
    assert rewrite(old).text == new
    indented = textwrap.indent(old, "        ")
    source = f"class A:\n    def f(self):\n{indented}\n"
    if "*" not in old:  # inside a function, too
        assert rewrite(source).text == source.replace(
            indented, textwrap.indent(new, "        "))


@pytest.mark.parametrize("source", KEPT)
def test_what_is_not_legacy_stays(source: str) -> None:
    assert rewrite(source) == rewrite(rewrite(source).text)
    assert rewrite(source).text == source
    assert not rewrite(source).changes


def test_names_that_went_to_several_modules_are_imported_from_each() -> None:
    source = ("from tensorflow.python.framework import (ops,\n"
              "    graph_util as gu)  # two homes\n"
              "line = 3\n")
    new = rewrite(source).text
    assert [n.lineno for n in ast.parse(new).body] == [1, 1, 3]
    found: dict[str, object] = {}
    exec(new, found)
    assert found["gu"].__name__.endswith("graph_util")  # type: ignore[attr-defined]
    assert found["ops"].__name__ == "tensorflow.python.framework.ops"  # type: ignore[attr-defined]


def test_a_name_the_file_leaves_to_the_star_import_is_bound() -> None:
    source = "from tensorpack import *\nx = tf.float32, os.sep\nnp = 1\nprint(np)\n"
    new = rewrite(source).text.splitlines()
    assert new[0] == f"from tfqueue_compat import *; import os; import {TFV1} as tf"
    assert rewrite("from tensorpack import *\nx = np.int\n").text.splitlines()[1] == "x = int"
    assert "import tensorflow" not in rewrite("from tensorpack import *\nos = 1; os\n").text
    assert rewrite("import tensorpack\nos\n").text == "import tfqueue_compat as tensorpack\nos\n"


@pytest.mark.parametrize("alias", ["float", "int", "bool", "object", "complex", "str"])
def test_numpys_aliases_of_pythons_types(alias: str) -> None:
    scope: dict[str, object] = {}
    exec(rewrite(f"import numpy as np\nx = np.{alias}").text, scope)
    assert scope["x"] is getattr(builtins, alias)  # np.bool is back in NumPy 2, as another type


def test_numpys_second_names_and_byte_strings() -> None:
    scope: dict[str, object] = {}
    source = """
    import numpy
    import numpy as np
    x = [numpy.NaN, np.Inf, np.float_, np.product([2, 3]), np.alltrue([1])]
    raw = np.arange(3, dtype='int32').tostring()
    back = np.fromstring(raw, np.int32)
    back[0] = 7
    text = np.fromstring('1 2', sep=' ')
    """
    exec(rewrite(textwrap.dedent(source)).text, scope)
    x = scope["x"]
    assert isinstance(x, list) and np.isnan(x[0]) and x[1:] == [np.inf, np.float64, 6, True]
    assert scope["raw"] == np.arange(3, dtype="int32").tobytes()
    assert np.array_equal(scope["back"], [7, 1, 2])  # type: ignore[arg-type]
    assert np.array_equal(scope["text"], [1, 2])  # type: ignore[arg-type]


def test_numpys_aliases_only_where_np_is_numpy() -> None:
    for source in ("np = Namespace()\nx = np.float", "import numpy as np\ndef f(np): np.int",
                   "import jax.numpy as np\nx = np.bool"):
        assert rewrite("import numpy\n" + source).text == "import numpy\n" + source
    shadowed = rewrite("import numpy as np\nfloat = tf.float32\nx = np.float\n")
    assert "np.float" in shadowed.text and shadowed.doubts[0].line == 3


def test_static_dimensions_are_ints_today() -> None:
    source = "a = x.get_shape()[1].value\nb = x.shape[-1] . value\nc = x.value, x[0].value\n"
    new = rewrite(source).text
    assert new == ("a = x.get_shape().as_list()[1]\nb = x.shape.as_list()[-1]\n"
                   "c = x.value, x[0].value\n")


def test_each_kind_can_be_left_alone() -> None:
    source = "import tensorpack\nimport tensorflow\nimport imp\nimport numpy as np; np.int\n"
    assert rewrite(source, Options(False, False, False, False)).text == source
    assert rewrite(source, Options(tensorflow=False)).text.splitlines()[1] == "import tensorflow"


def test_remarks_name_lines() -> None:
    result = rewrite("# one\nimport tensorpack\nname = 'x'\nimportlib.import_module(name)\n")
    assert [(c.line, c.old) for c in result.changes] == [(2, "tensorpack")]
    assert [d.line for d in result.doubts] == [4]
    assert "import_module(name)" in result.doubts[0].old and result.doubts[0].why


def test_positions_are_characters_where_the_parser_counts_bytes() -> None:
    source = "import numpy as np\nx = {'é': 'ü', '漢字': np.float}; y = np.int\n"
    assert rewrite(source).text == source.replace("np.float", "float").replace("np.int", "int")


def test_fstrings() -> None:
    source = "import numpy as np\nx = f'{np.float(1)} {np.pi}'\ny = np.int\n"
    new = rewrite(source).text
    assert new.splitlines()[2] == "y = int"
    ast.parse(new)


def test_python2_is_a_syntax_error_with_its_own_line() -> None:
    with pytest.raises(SyntaxError) as e:
        rewrite("import tensorpack\nprint 'x'\n", filename="old.py")
    assert (e.value.filename, e.value.lineno) == ("old.py", 2)


PIECES = st.sampled_from([
    "import tensorpack.dataflow \\\n    as df", "from tensorpack \\\n  import (a, # é\n\n  b)",
    "from tensorflow.python.framework import (\n    ops,\n    graph_util,\n)",
    "x = (np\n     .float)", "import tensorpack, \\\n   tensorflow.contrib.slim", "y = '''\n\n'''",
    "x = x.shape[\n  0\n ].value", "from tensorpack import *", "tf.zeros([os.x])", "# comment",
    "from collections import (\n  OrderedDict, Mapping)", "z = np.fromstring(\n  'é'\n)", "",
    "if x:\n    import tensorpack; import tensorflow as tf; y = 1", "def f():\n\n    return np.int",
    "importlib.import_module(\n  'tensorpack'\n)", "import imp, \\\n  numpy as np",
])


@given(st.lists(PIECES, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_no_line_moves(pieces: list[str], newline: str) -> None:
    source = "\n".join(["import numpy as np", *pieces, ""]).replace("\n", newline)
    new = rewrite(source).text
    assert new.count("\n") == source.count("\n")
    assert rewrite(new).text == new  # nothing legacy is left
    before, after = ast.parse(source), ast.parse(new)
    assert {n.lineno for n in before.body} <= {n.lineno for n in after.body}
    # untouched statements are the same, at the same place
    kept = [n for n in before.body if isinstance(n, ast.Assign) and "'''" in ast.unparse(n)]
    for node in kept:
        assert ast.dump(node) in [ast.dump(n) for n in after.body]


def test_the_standard_library_passes_through_unchanged_in_its_lines() -> None:
    folder = Path(ast.__file__).parent
    for path in sorted(folder.glob("*.py"))[:120]:
        source = path.read_text(encoding="utf-8")
        new = rewrite(source)
        assert len(new.text.splitlines()) == len(source.splitlines()), path
        compile(new.text, str(path), "exec")
    assert sys.modules["ast"] is ast
