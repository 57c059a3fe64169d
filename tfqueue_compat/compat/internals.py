# SPDX-License-Identifier: Apache-2.0
"""All that we take from ``tensorflow.python``, so that a new TensorFlow breaks one file."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import tensorflow as tf

from ..utils.errors import NotSupported, say

__all__ = ["OwnedIterator", "SessionInterface", "asking_keras", "chrome_trace", "generator_dataset",
           "graph_device_iterator", "local_cli_debug_hook", "owned_device_iterator",
           "iterator_get_next_sync", "route_errors",
           "route_session_errors", "v2_behavior", "was_interrupted"]


def _owned_iterator() -> type:
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator
    return OwnedIterator


#: The class of eager dataset iterators, to derive from.
OwnedIterator: Any = _owned_iterator()


def _datasets_from_function() -> type:
    from tensorflow.python.distribute.input_lib import DistributedDatasetsFromFunction
    return DistributedDatasetsFromFunction


#: The class of what Keras takes for distributed data, to derive from.
DistributedDatasetsFromFunction: Any = _datasets_from_function()


def _get_next_sync() -> Callable[..., Any]:
    from tensorflow.python.ops.gen_dataset_ops import iterator_get_next_sync
    return iterator_get_next_sync


#: ``tf.raw_ops.IteratorGetNextSync``, without the cost of its wrapper.
iterator_get_next_sync = _get_next_sync()


def generator_dataset(begin: Callable[[], Any], next_: Callable[[Any], Any],
                      end: Callable[[Any], Any], begin_arg: Any, element_spec: Any) -> Any:
    """A dataset whose iterators call ``begin`` once, ``next_`` for each element, ``end`` at last.

    It is what ``tf.data.Dataset.from_generator`` is made of.

    Args:
        begin: traced; from ``begin_arg`` to the iterator's state.
        next_: traced; from the state to an element; raises OutOfRange at the end.
        end: traced; from the state to a tensor nobody reads; called when the iterator is freed.
        begin_arg: a tensor, or what becomes one.
        element_spec: of the elements.
    """
    from tensorflow.python.data.ops.from_generator_op import _GeneratorDataset
    return _GeneratorDataset(begin_arg, begin, next_, end, element_spec)


def owned_device_iterator(dataset: Any, devices: Any) -> Any:
    """An eager iterator that deals elements out to devices, in turn."""
    from tensorflow.python.data.ops.multi_device_iterator_ops import OwnedMultiDeviceIterator
    return OwnedMultiDeviceIterator(dataset, devices=list(devices), source_device="/cpu:0")


def graph_device_iterator(dataset: Any, devices: Any) -> Any:
    """The same in a graph; has an ``initializer``."""
    from tensorflow.python.data.ops.multi_device_iterator_ops import MultiDeviceIterator
    with warnings.catch_warnings():  # of the options' new home, which is none of ours
        warnings.filterwarnings("ignore", ".*tf.data options", UserWarning)
        return MultiDeviceIterator(dataset, list(devices), source_device="/cpu:0")


def route_errors(error_in: Callable[[str], BaseException | None]) -> None:
    """Let errors of eager calls and of ``tf.function`` come out as ``error_in(message)``.

    TensorFlow keeps an error of a Python function as text only. Where ``error_in`` knows no error
    for the text, nothing changes. Done once for a process: there is no other place to get at the
    errors of ``model.fit`` and of a user's ``tf.function``, which come straight out of TensorFlow.
    """
    from tensorflow.python.eager import core, execute
    if getattr(core._status_to_exception, "_tfqueue_compat", False):
        return
    before = core._status_to_exception

    def status_to_exception(status: Any) -> BaseException:  # of single operations
        error = error_in(str(status.message))
        if error is not None:
            raise error from error.__cause__  # returned, it would be raised "from None"
        return before(status)

    def routed(call: Callable[..., Any]) -> Callable[..., Any]:  # of functions
        def execute(*args: Any, **kwargs: Any) -> Any:
            try:
                return call(*args, **kwargs)
            except tf.errors.OpError as e:
                error = error_in(str(e.message))
                if error is None:
                    raise
                raise error from error.__cause__
            except RuntimeError as e:
                if not was_interrupted(e):
                    raise
            raise KeyboardInterrupt
        return execute

    status_to_exception._tfqueue_compat = True  # type: ignore[attr-defined]
    core._status_to_exception = status_to_exception
    execute.execute = routed(execute.execute)
    execute.execute_with_cancellation = routed(execute.execute_with_cancellation)


def route_session_errors(graph: tf.Graph, error_in: Callable[[str], BaseException | None]) -> None:
    """Let errors of ``Session.run`` on this graph come out as what ``error_in(text)`` returns.

    A session looks up the failed operation in its graph, by name, while it handles the error.
    """
    _route_interrupts()
    if getattr(graph.get_operation_by_name, "_tfqueue_compat", False):
        return
    find = graph.get_operation_by_name

    def get_operation_by_name(name: str) -> Any:
        handled = sys.exc_info()[1]
        if isinstance(handled, tf.errors.OpError):
            error = error_in(str(handled.message))
            if isinstance(error, KeyError):  # the session takes one for a missing operation
                return _Raises(error)
            if error is not None:
                raise error from error.__cause__
        return find(name)

    get_operation_by_name._tfqueue_compat = True  # type: ignore[attr-defined]
    graph.get_operation_by_name = get_operation_by_name


def was_interrupted(error: RuntimeError) -> bool:
    """Whether an error stands for a Ctrl-C that waited while TensorFlow failed.

    TensorFlow makes an exception of its own then; the signal's handler runs in the midst of that,
    and pybind11 reports the mix as a RuntimeError that names both.
    """
    return "REPLACED BY KeyboardInterrupt" in str(error)


def _route_interrupts() -> None:
    """Let a Ctrl-C that waited while ``Session.run`` failed come out as KeyboardInterrupt."""
    from tensorflow.python.client import pywrap_tf_session
    if getattr(pywrap_tf_session.TF_SessionRun_wrapper, "_tfqueue_compat", False):
        return
    run = pywrap_tf_session.TF_SessionRun_wrapper

    def session_run(*args: Any) -> Any:
        try:
            return run(*args)
        except RuntimeError as e:
            if not was_interrupted(e):
                raise
        raise KeyboardInterrupt

    session_run._tfqueue_compat = True  # type: ignore[attr-defined]
    pywrap_tf_session.TF_SessionRun_wrapper = session_run


class _Raises:
    """An operation that raises when the session comes to describe it."""

    node_def = None

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error from self._error.__cause__


def asking_keras() -> tuple[bool, int | None]:
    """Whether Keras' fit, evaluate or predict is asking, and the steps an epoch given to it.

    Keras asks a dataset for its size and its iterators without a word on the steps that the user
    wants, and a queue must know: with steps it is endless, without it ends after each pass.
    """
    epochs = _epoch_iterator()
    if epochs is None:
        return False, None
    steps = getattr(epochs, "steps_per_epoch", None)
    if not steps:
        # The end of a pass is no accident then, whatever Keras thinks of a dataset whose length
        # it can't know.
        epochs._interrupted_warning = lambda: None
    return True, steps


def _epoch_iterator() -> Any:
    """Keras' object for the epochs of one call, from the stack of who is asking."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        # f_locals is asked of Keras' frames only: it keeps the locals it shows alive
        keras = str(frame.f_globals.get("__name__", "")).startswith("keras.")
        who = frame.f_locals.get("self") if keras else None
        if any(c.__name__ == "EpochIterator" and c.__module__.startswith("keras.")
               for c in type(who).__mro__):
            return who
        frame = frame.f_back
    return None


# What compat.tfv1 needs.

def v2_behavior() -> bool:
    """Return whether TensorFlow's v2 behavior is on."""
    from tensorflow.python import tf2
    return bool(tf2.enabled())


# What the callbacks need.

def local_cli_debug_hook(*args: Any, **kwargs: Any) -> Any:
    """Return a ``tfdbg.LocalCLIDebugHook``.

    Raises:
        NotSupported: where this TensorFlow has none.
    """
    try:
        from tensorflow.python.debug import LocalCLIDebugHook
    except ImportError as e:
        raise NotSupported(say("TFLocalCLIDebugHook", expected="TensorFlow's command-line debugger",
                               received=f"TensorFlow {tf.__version__}, which has it no more",
                               do="Use tf.debugging, CheckNumerics() or InjectShell().")) from e
    return LocalCLIDebugHook(*args, **kwargs)


def chrome_trace(step_stats: Any) -> str:
    """Return the JSON of a step's statistics that ``chrome://tracing`` loads."""
    from tensorflow.python.client import timeline
    trace: str = timeline.Timeline(step_stats).generate_chrome_trace_format(show_memory=True)
    return trace


# What keras_bridge needs.

def _session_interface() -> type:
    from tensorflow.python.client.session import SessionInterface
    return SessionInterface


#: What TensorFlow's savers take for a session, to derive from.
SessionInterface: Any = _session_interface()
