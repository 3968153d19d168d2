"""Draws one line of text as the model wants to see it: float32 [3, 48, 320], blue-green-red, values in -1 … 1.

A slice is a way of being hard to read; `clean` is none of them. Every choice comes from the generator that is passed
in, and the layout engine is Pillow's own, so that the same versions of Pillow and of the fonts give the same bytes.
"""

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

HEIGHT = 48
WIDTH = 320
HARD_SLICES = ("small", "blurred", "low_contrast", "rotated", "noisy")


def render(text, font_file, slice_name, generator):
    """The picture as uint8 [48, width <= 320, 3], red-green-blue."""
    ground = generator.integers(200, 256, 3)
    ink = generator.integers(0, 90, 3)
    if slice_name == "low_contrast":
        ground = generator.integers(90, 200, 3)
        ink = ground - generator.integers(3, 8)
    picture = _draw(text, font_file, int(generator.integers(30, 40)), ground, ink, generator)
    if slice_name == "rotated":
        angle = generator.uniform(10.0, 22.0) * generator.choice((-1, 1))
        picture = picture.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=tuple(ground))
    if slice_name == "small":
        height = int(generator.integers(7, 11))
        picture = picture.resize((max(1, picture.width * height // picture.height), height), Image.Resampling.BOX)
    # As PP-OCR does: to the model's height, the width in proportion, but never wider than the model's.
    width = min(WIDTH, max(1, round(picture.width * HEIGHT / picture.height)))
    picture = picture.resize((width, HEIGHT), Image.Resampling.BILINEAR)
    if slice_name == "blurred":
        picture = picture.filter(ImageFilter.GaussianBlur(generator.uniform(3.2, 4.8)))
    pixels = np.asarray(picture, dtype=np.float64)
    deviation = {"noisy": generator.uniform(70, 130), "low_contrast": 3.0}.get(slice_name, 3.0)
    pixels = pixels + generator.normal(0.0, deviation, pixels.shape)
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


def _draw(text, font_file, size, ground, ink, generator):
    font = ImageFont.truetype(str(font_file), size, layout_engine=ImageFont.Layout.BASIC)
    left, top, right, bottom = font.getbbox(text)
    margin_x, margin_top, margin_bottom = (int(v) for v in generator.integers(3, 8, 3))
    box = (right - left + 2 * margin_x, bottom - top + margin_top + margin_bottom)
    picture = Image.new("RGB", box, tuple(int(v) for v in ground))
    ImageDraw.Draw(picture).text((margin_x - left, margin_top - top), text, tuple(int(v) for v in ink), font)
    return picture


def to_input(pixels):
    """uint8 [48, width, 3] red-green-blue to the model's input, padded with zeros on the right."""
    tensor = np.zeros((3, HEIGHT, WIDTH), np.float32)
    scaled = (pixels[:, :, ::-1].astype(np.float32) / 255.0 - 0.5) / 0.5
    tensor[:, :, : pixels.shape[1]] = scaled.transpose(2, 0, 1)
    return tensor
