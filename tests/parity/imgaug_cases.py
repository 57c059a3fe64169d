# SPDX-License-Identifier: Apache-2.0
"""Every augmentor on many images, run by this text alike under real tensorpack and under ours."""
import numpy as np


def images():
    draw = np.random.RandomState(0)
    byte = draw.randint(0, 256, (37, 51, 3)).astype("uint8")
    smooth = np.clip(np.cumsum(draw.randn(40, 33, 3), axis=0) * 9 + 120, 0, 255)
    return {
        "u8": byte, "f32": (draw.rand(37, 51, 3) * 255).astype("float32"),
        "smooth_u8": smooth.astype("uint8"), "smooth_f32": smooth.astype("float32"),
        "unit_f32": draw.rand(36, 24, 3).astype("float32"),
        "gray_u8": byte[:, :, 0].copy(), "gray_f32": (draw.rand(36, 29) * 255).astype("float32"),
        "f64": draw.rand(37, 51, 3) * 255,
        "rgba_u8": draw.randint(0, 256, (36, 24, 4)).astype("uint8"),
        "tiny_u8": byte[:5, :4].copy(), "gray_f64": draw.rand(36, 29) * 255,
        "one_u8": byte[:, :, :1].copy(), "one_f32": (draw.rand(36, 29, 1) * 255).astype("float32"),
    }


COORDS = (np.random.RandomState(1).rand(7, 2) * 30)


def augmentors(g, deform):
    eigvec = [[0.4203, -0.6948, -0.5836], [-0.814, -0.0045, -0.5808], [0.4009, 0.7192, -0.5675]]
    return {
        "ColorSpace": lambda: g.ColorSpace(40),
        "ColorSpace_gray": lambda: g.ColorSpace(6),
        "ColorSpace_flat": lambda: g.ColorSpace(6, keepdims=False),
        "Grayscale": lambda: g.Grayscale(),
        "Grayscale_rgb": lambda: g.Grayscale(rgb=True, keepdims=False),
        "Grayscale_keepshape": lambda: g.Grayscale(keepshape=True),
        "ToUint8": lambda: g.ToUint8(),
        "ToFloat32": lambda: g.ToFloat32(),
        "RandomCrop": lambda: g.RandomCrop(20),
        "RandomCrop_hw": lambda: g.RandomCrop((21, 13)),
        "CenterCrop": lambda: g.CenterCrop((20, 13)),
        "RandomCropRandomShape": lambda: g.RandomCropRandomShape(10, 12),
        "RandomCropRandomShape_max": lambda: g.RandomCropRandomShape(10, 12, 20, 22),
        "GoogleNet": lambda: g.GoogleNetRandomCropAndResize(target_shape=24),
        "GoogleNet_big": lambda: g.GoogleNetRandomCropAndResize((0.8, 1.6), target_shape=20,
                                                                interp=2),
        "GoogleNet_never": lambda: g.GoogleNetRandomCropAndResize((1.5, 2.), target_shape=17),
        "RandomCutout": lambda: g.RandomCutout(8, 9),
        "RandomCutout_fill": lambda: g.RandomCutout(5, 20, fill=7),
        "Shift": lambda: g.Shift(0.2, 0.3),
        "Shift_constant": lambda: g.Shift(0.2, 0.3, border=0, border_value=9),
        "Rotation": lambda: g.Rotation(30),
        "Rotation_step": lambda: g.Rotation(180, (0.4, 0.6), step_deg=45, border=0,
                                            border_value=5),
        "RotationAndCropValid": lambda: g.RotationAndCropValid(30),
        "RotationAndCropValid_wide": lambda: g.RotationAndCropValid(180, interp=0),
        "RotationAndCropValid_step": lambda: g.RotationAndCropValid(180, step_deg=30),
        "Affine": lambda: g.Affine(),
        "Affine_scale": lambda: g.Affine(scale=(0.8, 1.2)),
        "Affine_translate": lambda: g.Affine(translate_frac=(0.2, 0.1)),
        "Affine_rotate": lambda: g.Affine(rotate_max_deg=20),
        "Affine_shear": lambda: g.Affine(shear=20),
        "Affine_all": lambda: g.Affine((0.8, 1.2), (0.2, 0.1), 20, 10, 1, 0, 5),
        "Hue": lambda: g.Hue(),
        "Hue_bgr": lambda: g.Hue((-30, 30), rgb=False),
        "Brightness": lambda: g.Brightness(60),
        "Brightness_free": lambda: g.Brightness(60, clip=False),
        "BrightnessScale": lambda: g.BrightnessScale((0.6, 1.4)),
        "BrightnessScale_free": lambda: g.BrightnessScale((0.6, 1.4), clip=False),
        "Contrast": lambda: g.Contrast((0.6, 1.4)),
        "Contrast_rgb": lambda: g.Contrast((0.6, 1.4), rgb=True, clip=False),
        "Contrast_bgr": lambda: g.Contrast((0.6, 1.4), rgb=False),
        "MeanVarianceNormalize": lambda: g.MeanVarianceNormalize(),
        "MeanVarianceNormalize_each": lambda: g.MeanVarianceNormalize(all_channel=False),
        "GaussianBlur": lambda: g.GaussianBlur(),
        "GaussianBlur_xy": lambda: g.GaussianBlur((1, 4), (0.5, 1.5), symmetric=False),
        "GaussianBlur_max": lambda: g.GaussianBlur(max_size=4),
        "Gamma": lambda: g.Gamma(),
        "Gamma_bright": lambda: g.Gamma((0.1, 0.9)),
        "Clip": lambda: g.Clip(50, 100),
        "Saturation": lambda: g.Saturation(),
        "Saturation_bgr": lambda: g.Saturation(0.6, rgb=False, clip=False),
        "Lighting": lambda: g.Lighting(0.3, eigval=[55.46, 4.794, 1.1475], eigvec=eigvec),
        "Lighting_free": lambda: g.Lighting(3, eigval=[55.46, 4.794, 1.1475], eigvec=eigvec,
                                            clip=False),
        "MinMaxNormalize": lambda: g.MinMaxNormalize(),
        "MinMaxNormalize_each": lambda: g.MinMaxNormalize(-1, 1, all_channel=False),
        "Identity": lambda: g.Identity(),
        "RandomApplyAug": lambda: g.RandomApplyAug(g.Flip(horiz=True), 0.6),
        "RandomApplyAug_crop": lambda: g.RandomApplyAug(g.RandomCrop(20), 0.5),
        "RandomChooseAug": lambda: g.RandomChooseAug([g.Flip(horiz=True), g.RandomCrop(20),
                                                      g.ToFloat32()]),
        "RandomChooseAug_prob": lambda: g.RandomChooseAug(
            [(g.Flip(vert=True), 0.2), (g.RandomCrop(20), 0.3), (g.ToFloat32(), 0.5)]),
        "RandomOrderAug": lambda: g.RandomOrderAug(
            [g.Flip(horiz=True), g.Brightness(30), g.Contrast((0.5, 1.5))]),
        "MapImage": lambda: g.MapImage(lambda x: 255 - x),
        "MapImage_coords": lambda: g.MapImage(lambda x: x * 2, lambda c: c * 2 + 1),
        "Flip_h": lambda: g.Flip(horiz=True),
        "Flip_v": lambda: g.Flip(vert=True, prob=0.9),
        "Resize": lambda: g.Resize(20),
        "Resize_cubic": lambda: g.Resize((20, 33), 2),
        "RandomResize": lambda: g.RandomResize((0.7, 1.3), (0.8, 1.2)),
        "RandomResize_tight": lambda: g.RandomResize((0.5, 2.0), (0.5, 2.0),
                                                     aspect_ratio_thres=0.02),
        "RandomResize_pixels": lambda: g.RandomResize((20, 60), (20, 60)),
        "RandomResize_pixels_ratio": lambda: g.RandomResize((30, 60), aspect_ratio_thres=0),
        "RandomResize_ratio": lambda: g.RandomResize((0.7, 1.3), aspect_ratio_thres=0),
        "RandomResize_minimum": lambda: g.RandomResize((0.7, 1.3), (0.7, 1.2),
                                                       minimum=(40, 39)),
        "RandomResize_ratio_minimum": lambda: g.RandomResize((0.7, 1.3), minimum=(40, 39),
                                                             aspect_ratio_thres=0),
        "ResizeShortestEdge": lambda: g.ResizeShortestEdge(20),
        "ResizeShortestEdge_cubic": lambda: g.ResizeShortestEdge(41, 2),
        "Transpose": lambda: g.Transpose(),
        "JpegNoise": lambda: g.JpegNoise(),
        "JpegNoise_low": lambda: g.JpegNoise((5, 10)),
        "GaussianNoise": lambda: g.GaussianNoise(9),
        "GaussianNoise_free": lambda: g.GaussianNoise(90, clip=False),
        "SaltPepperNoise": lambda: g.SaltPepperNoise(),
        "SaltPepperNoise_more": lambda: g.SaltPepperNoise(0.2, 0.3),
        "CenterPaste": lambda: g.CenterPaste((60, 71)),
        "CenterPaste_value": lambda: g.CenterPaste((61, 70), g.ConstantBackgroundFiller(7)),
        "RandomPaste": lambda: g.RandomPaste((60, 70)),
        "AugmentorList": lambda: g.AugmentorList(
            [g.Flip(horiz=True), g.RandomCrop((20, 22)), g.Brightness(30), g.Rotation(20)]),
        "AugmentorList_nested": lambda: g.AugmentorList(
            [g.AugmentorList([g.Shift(0.1, 0.1), g.RandomCrop(22)]), g.Transpose(),
             g.GaussianNoise(3)]),
        "GaussianDeform": lambda: deform.GaussianDeform([(0.3, 0.4), (0.7, 0.6)], (37, 51)),
        "GaussianDeform_wide": lambda: deform.GaussianDeform(
            [(0.2, 0.2), (0.7, 0.2), (0.8, 0.8)], (40, 33), 0.2, 9),
    }


def share_rng(aug, rng):
    """Give an augmentor and all inside it one random generator."""
    aug.rng = rng
    inside = list(vars(aug).values())
    for value in inside:
        if isinstance(value, (list, tuple)):
            inside.extend(value)
        elif hasattr(value, "get_transform"):
            share_rng(value, rng)


def results(g, deform, seeds=5):
    """Return {(augmentor, image, seed): (image out, coordinates out or error's name)}."""
    found = {}
    for name, make in augmentors(g, deform).items():
        for kind, img in images().items():
            for seed in range(seeds):
                aug = make()
                share_rng(aug, np.random.RandomState(seed))
                try:
                    transform = aug.get_transform(img.copy())
                    out = np.ascontiguousarray(transform.apply_image(img.copy()))
                except Exception as e:
                    found[name, kind, seed] = (type(e).__name__, None, None)
                    continue
                again = np.ascontiguousarray(transform.apply_image(img.copy()))
                try:
                    coords = transform.apply_coords(COORDS.copy())
                except Exception as e:
                    coords = type(e).__name__
                found[name, kind, seed] = (out, coords, again)
    return found
