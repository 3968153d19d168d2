"""Binary files, made by the libraries that are there: one function for each type.

All choices come from the generator that is passed in; no file holds the time of its making.
"""

import bz2
import gzip
import importlib.util
import io
import lzma
import marshal
import pickle
import sqlite3
import tarfile
import wave
import zipfile
import zlib
from time import gmtime

import numpy as np
from onnx import TensorProto, helper
from PIL import Image, ImageDraw

from voice import SECONDS, table, word


def picture(voice, rng):
    width, height = (int(v) for v in rng.integers(24, 200, 2))
    ground = tuple(int(v) for v in rng.integers(0, 256, 3))
    image = Image.new("RGB", (width, height), ground)
    draw = ImageDraw.Draw(image)
    for _ in range(rng.integers(3, 15)):
        x, y = int(rng.integers(width)), int(rng.integers(height))
        box = (x, y, x + int(rng.integers(1, width)), y + int(rng.integers(1, height)))
        colour = tuple(int(v) for v in rng.integers(0, 256, 3))
        (draw.rectangle if voice.case == "camel" else draw.ellipse)(box, fill=colour)
    if voice.case == "kebab":
        noise = rng.normal(0, 12, (height, width, 3))
        image = Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))
    return image


def save(form, mode="RGB", **options):
    def make(voice, rng):
        file = io.BytesIO()
        picture(voice, rng).convert(mode).save(file, form, **options)
        return file.getvalue()
    return make


def payload(voice, rng):
    """What archives hold: one of the set's found files, or bytes of noise."""
    name, content = voice.sources[rng.integers(len(voice.sources))]
    return (name, content[:60000]) if rng.integers(4) else ("data.bin", rng.bytes(int(rng.integers(300, 5000))))


def make_zip(voice, rng):
    file = io.BytesIO()
    kind = zipfile.ZIP_STORED if voice.case == "snake" else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(file, "w", kind) as archive:
        for number in range(rng.integers(1, 6)):
            name, content = payload(voice, rng)
            archive.writestr(zipfile.ZipInfo(f"{word(voice, rng)}/{number}-{name}", gmtime(SECONDS)[:6]), content, kind)
    return file.getvalue()


def make_tar(voice, rng):
    file = io.BytesIO()
    form = tarfile.USTAR_FORMAT if voice.case == "camel" else tarfile.GNU_FORMAT
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for number in range(rng.integers(1, 5)):
            name, content = payload(voice, rng)
            entry = tarfile.TarInfo(f"{word(voice, rng)}/{number}-{name}")
            entry.size, entry.mtime, entry.uname = len(content), SECONDS, word(voice, rng)
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def make_npy(voice, rng):
    file = io.BytesIO()
    shape = tuple(rng.integers(2, 30, rng.integers(1, 4)))
    array = rng.normal(0, 100, shape)
    np.save(file, array.astype({"camel": np.float32, "kebab": np.int64}.get(voice.case, np.float64)))
    return file.getvalue()


def make_pickle(voice, rng):
    name, keys, rows = table(voice, rng)
    protocol = {"camel": 4, "kebab": 5}.get(voice.case, 3)
    return pickle.dumps({name: [dict(zip(keys, row)) for row in rows]}, protocol)


def make_sqlite(voice, rng):
    name, keys, rows = table(voice, rng, 5, 60)
    data = sqlite3.connect(":memory:")
    data.execute(f"create table {name}s ({', '.join(key.replace('-', '_') for key in keys)})")
    data.executemany(f"insert into {name}s values ({', '.join('?' * len(keys))})", rows)
    data.commit()
    content = data.serialize()
    data.close()
    return content


def make_wav(voice, rng):
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(2 if voice.case == "kebab" else 1)
        sound.setsampwidth(2)
        sound.setframerate({"camel": 16000, "kebab": 44100}.get(voice.case, 8000))
        time = np.arange(int(rng.integers(500, 6000)))
        tone = np.sin(time * rng.uniform(0.01, 0.5)) * rng.uniform(500, 9000) + rng.normal(0, 200, len(time))
        sound.writeframes(tone.astype("<i2").tobytes())
    return file.getvalue()


def make_onnx(voice, rng):
    nodes, weights, last = [], [], "x"
    for layer in range(rng.integers(1, 6)):
        kind = ("Relu", "Tanh", "MatMul", "Sigmoid")[rng.integers(4)]
        out, inputs = f"{word(voice, rng)}_{layer}", [last]
        if kind == "MatMul":
            inputs.append(f"{out}_weight")
            weights.append(helper.make_tensor(inputs[1], TensorProto.FLOAT, [8, 8], rng.normal(0, 1, 64)))
        nodes.append(helper.make_node(kind, inputs, [out]))
        last = out
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in ("x", last)]
    graph = helper.make_graph(nodes, word(voice, rng), ends[:1], ends[1:], weights)
    return helper.make_model(graph, producer_name=word(voice, rng)).SerializeToString()


def make_pythonbytecode(voice, rng):
    python = [(name, content) for name, content in voice.sources if name.endswith(".py")]
    name, content = python[rng.integers(len(python))]
    code = compile(content, f"/usr/lib/{word(voice, rng)}/{name}", "exec", dont_inherit=True)
    numbers = SECONDS.to_bytes(4, "little") + len(content).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + bytes(4) + numbers + marshal.dumps(code)


def make_bzip(voice, rng):
    return bz2.compress(payload(voice, rng)[1], 1 if voice.case == "camel" else 9)


def make_gzip(voice, rng):
    return gzip.compress(payload(voice, rng)[1], 6 if voice.case == "camel" else 9, mtime=SECONDS)


def make_xz(voice, rng):
    return lzma.compress(payload(voice, rng)[1], check=lzma.CHECK_CRC32 if voice.case == "camel" else lzma.CHECK_CRC64)


def make_zlibstream(voice, rng):
    return zlib.compress(payload(voice, rng)[1], {"camel": 1, "kebab": 9}.get(voice.case, 6))


MAKERS = {kind: globals()["make_" + kind] for kind in (
    "zip", "tar", "gzip", "bzip", "xz", "zlibstream", "npy", "pickle", "sqlite", "wav", "onnx", "pythonbytecode")}
MAKERS |= {"png": save("PNG"), "jpeg": save("JPEG", quality=80), "gif": save("GIF", "P"), "bmp": save("BMP"),
           "tiff": save("TIFF"), "webp": save("WEBP"), "ico": save("ICO"), "tga": save("TGA"),
           "pdf": save("PDF", creationDate=gmtime(SECONDS), modDate=gmtime(SECONDS))}
