# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the image augmentors, loaded when asked for."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [
    "Affine", "Albumentations", "Augmentor", "AugmentorList", "BackgroundFiller", "Brightness",
    "BrightnessScale", "CenterCrop", "CenterPaste", "Clip", "ColorSpace",
    "ConstantBackgroundFiller", "Contrast", "CropTransform", "Flip", "FlipTransform", "Gamma",
    "GaussianBlur", "GaussianNoise", "GoogleNetRandomCropAndResize", "Grayscale", "Hue",
    "IAAugmentor", "Identity", "ImageAugmentor", "JpegNoise", "Lighting", "MapImage",
    "MeanVarianceNormalize", "MinMaxNormalize", "PhotometricAugmentor", "RandomApplyAug",
    "RandomChooseAug", "RandomCrop", "RandomCropRandomShape", "RandomCutout", "RandomOrderAug",
    "RandomPaste", "RandomResize", "Resize", "ResizeShortestEdge", "ResizeTransform", "Rotation",
    "RotationAndCropValid", "SaltPepperNoise", "Saturation", "Shift", "ToFloat32", "ToUint8",
    "Transform", "TransformFactory", "TransformList", "Transpose",
]

_HOMES: dict[str, tuple[str, ...]] = {
    "base": ("Augmentor", "AugmentorList", "ImageAugmentor", "PhotometricAugmentor"),
    "convert": ("ColorSpace", "Grayscale", "ToFloat32", "ToUint8"),
    "crop": ("CenterCrop", "GoogleNetRandomCropAndResize", "RandomCrop", "RandomCropRandomShape",
             "RandomCutout"),
    "external": ("Albumentations", "IAAugmentor"),
    "geometry": ("Affine", "Rotation", "RotationAndCropValid", "Shift"),
    "imgproc": ("Brightness", "BrightnessScale", "Clip", "Contrast", "Gamma", "GaussianBlur",
                "Hue", "Lighting", "MeanVarianceNormalize", "MinMaxNormalize", "Saturation"),
    "meta": ("Identity", "MapImage", "RandomApplyAug", "RandomChooseAug", "RandomOrderAug"),
    "misc": ("Flip", "RandomResize", "Resize", "ResizeShortestEdge", "Transpose"),
    "noise": ("GaussianNoise", "JpegNoise", "SaltPepperNoise"),
    "paste": ("BackgroundFiller", "CenterPaste", "ConstantBackgroundFiller", "RandomPaste"),
    "transform": ("CropTransform", "FlipTransform", "ResizeTransform", "Transform",
                  "TransformFactory", "TransformList"),
    "deform": (),
    "_names": ("global_import",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    from ...utils.errors import near
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{near(name, __all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_HOMES})
