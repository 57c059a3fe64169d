# SPDX-License-Identifier: Apache-2.0
"""Caffe models as dicts of arrays under tensorpack's variable names; needs Caffe itself."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
from types import ModuleType
from typing import Any

import numpy as np

from . import logger
from .errors import require, say
from .fs import download, get_dataset_path, mkdir_p

__all__ = ["get_caffe_pb", "load_caffe"]

_PROTO = "https://raw.githubusercontent.com/BVLC/caffe/master/src/caffe/proto/caffe.proto"


class CaffeLayerProcessor:
    """Turn the layers of a Caffe net into parameters.

    Args:
        net: a ``caffe.Net``.
    """

    def __init__(self, net: Any) -> None:
        self.net = net
        self.layer_names = net._layer_names
        self.param_dict: dict[str, np.ndarray] = {}
        self.processors = {"Convolution": self.proc_conv, "InnerProduct": self.proc_fc,
                           "BatchNorm": self.proc_bn, "Scale": self.proc_scale}

    def process(self) -> dict[str, np.ndarray]:
        """Return the parameters of all layers that have some."""
        for idx, layer in enumerate(self.net.layers):
            name = self.layer_names[idx]
            if not len(layer.blobs):
                continue
            if layer.type not in self.processors:
                logger.warning("Parameters of layer %s, of type %s, are skipped", name, layer.type)
                continue
            param = [np.asarray(blob.data) for blob in layer.blobs]
            self.param_dict.update(self.processors[layer.type](idx, name, param))
        return self.param_dict

    def proc_conv(self, idx: int, name: str, param: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Return ``W`` as (height, width, in, out), and ``b``."""
        found = {f"{name}/W": param[0].transpose(2, 3, 1, 0)}
        if len(param) > 1:
            found[f"{name}/b"] = param[1]
        return found

    def proc_fc(self, idx: int, name: str, param: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Return ``W`` as (in, out), its rows in channel-last order, and ``b``."""
        weights = param[0]
        source = self.net.bottom_names[name][0] if hasattr(self.net, "bottom_names") else None
        shape = self.net.blobs[source].data.shape[1:] if source else ()
        if len(shape) == 3:  # Caffe flattens (channel, height, width)
            weights = weights.reshape(-1, *shape).transpose(2, 3, 1, 0)
            weights = weights.reshape(-1, weights.shape[-1])
        else:
            weights = weights.transpose()
        found = {f"{name}/W": weights}
        if len(param) > 1:
            found[f"{name}/b"] = param[1]
        return found

    def proc_bn(self, idx: int, name: str, param: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Return the moving ``mean/EMA`` and ``variance/EMA``."""
        scale = param[2][0] or 1
        return {f"{name}/mean/EMA": param[0] / scale, f"{name}/variance/EMA": param[1] / scale}

    def proc_scale(self, idx: int, name: str, param: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Return ``gamma`` and ``beta``, named after the BatchNorm before this layer."""
        earlier = [k for k in range(idx) if self.net.layers[k].type == "BatchNorm"]
        if not earlier:
            raise ValueError(say(f"Caffe layer {name}", expected="a BatchNorm before this Scale",
                                 received="none", do="Load this model's layers by hand."))
        owner = self.layer_names[earlier[-1]]
        return {f"{owner}/beta": param[1], f"{owner}/gamma": param[0]}


def load_caffe(model_desc: str, model_file: str) -> dict[str, np.ndarray]:
    """Return the parameters of a Caffe model, under tensorpack's variable names.

    Args:
        model_desc: path of the ``.prototxt``.
        model_file: path of the ``.caffemodel``.

    Raises:
        ImportError: where Caffe is not installed.
    """
    caffe = require("caffe", "caffe (from conda-forge, or built)", "load_caffe")
    caffe.set_mode_cpu()
    net = caffe.Net(model_desc, model_file, caffe.TEST)
    params = CaffeLayerProcessor(net).process()
    logger.info("Model loaded from caffe. Params: %s", ", ".join(sorted(params)))
    return params


def get_caffe_pb() -> ModuleType:
    """Return Caffe's protobuf module: from Caffe, or compiled from its ``caffe.proto``.

    Raises:
        FileNotFoundError: where the compiler ``protoc`` is needed and missing.
    """
    if importlib.util.find_spec("caffe") is not None:
        return importlib.import_module("caffe.proto.caffe_pb2")
    folder = get_dataset_path("caffe")
    made = os.path.join(folder, "caffe_pb2.py")
    if not os.path.isfile(made):
        _compile(folder)
    spec = importlib.util.spec_from_file_location("caffe_pb2", made)
    if spec is None or spec.loader is None:
        raise ImportError(say("get_caffe_pb", expected="a module", received=made,
                              do="Delete it and try again."))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compile(folder: str) -> None:
    mkdir_p(folder)
    proto = os.path.join(folder, "caffe.proto")
    if not os.path.isfile(proto):
        download(_PROTO, folder)
    if shutil.which("protoc") is None:
        raise FileNotFoundError(say("get_caffe_pb", expected="the compiler protoc",
                                    received="no such program",
                                    do="Install it (protobuf-compiler)."))
    subprocess.run(["protoc", "caffe.proto", "--python_out", "."], cwd=folder, check=True)
