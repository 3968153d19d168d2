"""Write samples as fiel reads them (docs/contract.md, "Data sets").

    fiel.dataset.write("data/tuning", {"x": images}, labels=classes, slices=["night" if dark else "day" for dark in is_dark])
    fiel.dataset.write_samples("data/holdout", [{"x": line} for line in lines])            # shapes may differ
    fiel.dataset.write_images("samples", files, size=(224, 224), mean=(0.485, 0.456, 0.406), deviation=(0.229, 0.224, 0.225))

Nothing is split or shuffled here: a contract's `samples = "folder"` has fiel do that by content."""

import csv
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Folder = str | os.PathLike[str]
_NAME_BYTES = 251  # of a file's name, with .npz


def write(
    folder: Folder,
    inputs: Mapping[str, "npt.ArrayLike"],
    *,
    labels: Sequence[object] | None = None,
    slices: Sequence[object] | None = None,
    groups: Sequence[object] | None = None,
    names: Sequence[str] | None = None,
) -> Path:
    """Samples of one shape, stacked: row i of each array is sample i. The dtypes must be the model's. Returns the folder."""
    import numpy as np

    arrays = {name: np.asarray(array) for name, array in inputs.items()}
    counts = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
    if len(set(counts.values())) != 1 or 0 in counts.values():
        raise ValueError(f"every input needs the same number of samples, at least one: {counts}")
    count = next(iter(counts.values()))
    path = _new_folder(folder)
    # Rows of labels.csv name the samples, so there is one wherever there is anything to say.
    if any(column is not None for column in (labels, slices, groups, names)):
        _write_labels(path, names or [f"{i:06}" for i in range(count)], labels, slices, groups)
    _save(path / "inputs.npz", arrays)
    return path


def write_samples(
    folder: Folder,
    samples: Iterable[Mapping[str, "npt.ArrayLike"]],
    *,
    labels: Sequence[object] | None = None,
    slices: Sequence[object] | None = None,
    groups: Sequence[object] | None = None,
    names: Sequence[str] | None = None,
) -> Path:
    """A file for each sample, so that shapes may differ; each array has the model's full shape, batch axis included."""
    path = _new_folder(folder)
    written: list[str] = []
    for i, sample in enumerate(samples):
        if names is not None and i >= len(names):
            raise ValueError(f"there are more samples than the {len(names)} names")
        name = names[i] if names is not None else f"{i:06}"
        _check_name(name)
        _save(path / f"{name}.npz", sample)
        written.append(name)
    if not written or (names is not None and len(written) != len(names)):
        raise ValueError(f"{len(written)} samples were given" + (f" for {len(names)} names" if names is not None else ""))
    if any(column is not None for column in (labels, slices, groups)):
        _write_labels(path, written, labels, slices, groups)
    return path


def write_images(
    folder: Folder,
    files: Sequence[Folder],
    *,
    size: tuple[int, int],
    input: str = "x",
    mean: Sequence[float] = (0.0, 0.0, 0.0),
    deviation: Sequence[float] = (1.0, 1.0, 1.0),
    layout: str = "NCHW",
    labels: Sequence[object] | None = None,
    slices: Sequence[object] | None = None,
    groups: Sequence[object] | None = None,
) -> Path:
    """RGB images as float32 in [0, 1], less `mean`, over `deviation`; resized to `size` (width, height), bilinear. Needs pillow.

    Write them as your service prepares them, or what is measured is another model's accuracy."""
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"layout is NCHW or NHWC, not {layout!r}")
    prepared = ({input: image} for image in _images(files, size, mean, deviation, layout))
    return write_samples(folder, prepared, labels=labels, slices=slices, groups=groups)


def _images(files: Sequence[Folder], size: tuple[int, int], mean: Sequence[float], deviation: Sequence[float],
            layout: str) -> Iterator["np.ndarray[Any, Any]"]:
    import numpy as np
    from PIL import Image

    for file in files:
        with Image.open(file) as image:
            pixels = np.asarray(image.convert("RGB").resize(size, Image.Resampling.BILINEAR), dtype=np.float32) / 255
        pixels = (pixels - np.asarray(mean, dtype=np.float32)) / np.asarray(deviation, dtype=np.float32)
        yield (pixels.transpose(2, 0, 1) if layout == "NCHW" else pixels)[np.newaxis]


def _save(path: Path, arrays: Mapping[str, "npt.ArrayLike"]) -> None:
    """As numpy.savez, but an input may be called "file", and nothing is pickled."""
    import numpy as np

    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _new_folder(folder: Folder) -> Path:
    path = Path(folder)
    if path.exists() and any(path.iterdir()):
        raise FileExistsError(f"{path} holds files already: samples of two data sets would be mixed")
    path.mkdir(parents=True, exist_ok=True)
    return path


def _check_name(name: str) -> None:
    if not name or name.startswith(".") or "/" in name or "\0" in name or len(name.encode()) > _NAME_BYTES:
        raise ValueError(f"a sample can't be called {name!r}: no '/', no '.' in front, at most {_NAME_BYTES} bytes")


def _write_labels(path: Path, names: Sequence[str], labels: Sequence[object] | None, slices: Sequence[object] | None,
                  groups: Sequence[object] | None) -> None:
    columns: dict[str, Sequence[object]] = {"sample": names}
    for title, column in (("label", labels), ("slice", slices), ("group", groups)):
        if column is not None:
            columns[title] = column
    if len({len(column) for column in columns.values()}) != 1:
        raise ValueError(f"every sample needs its row: {({title: len(column) for title, column in columns.items()})}")
    if len(set(names)) != len(names):
        raise ValueError("two samples have the same name")
    for name in names:
        _check_name(name)
    with open(path / "labels.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
