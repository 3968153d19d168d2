"""Makes one peer's version of a model, as a bundle that run_bundle.py runs. Started in the peer's own environment.

    entrants.py PEER ENGINE CONTRACT BUNDLE

Prints how many models the peer built to get there, as {"builds": 3}. Each peer is used as its own documentation says, with
its defaults, the contract's calibration data, and where it can judge accuracy the contract's tuning data and max_drop.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE.parent.parent / "src/report/templates"


class Case:
    def __init__(self, contract_file):
        self.file = Path(contract_file).resolve()
        self.contract = tomllib.loads(self.file.read_text())
        self.model = self.file.parent / self.contract["model"]["path"]
        self.task = self.contract["accuracy"]["task"][0]
        self.states = [state["input"] for state in self.contract["model"].get("state", [])]
        shape = self.contract["model"].get("shape", [{}])[0]
        self.shape = {name: sizes for name, sizes in shape.items() if name != "weight"}

    def samples(self, which):
        from run_bundle import samples
        return list(samples(self.file.parent / self.contract["data"][which], self.states))

    def steps(self, which):
        """Feeds one step each, of a sequence its first eight, with states at zero: a quantiser doesn't carry them."""
        import numpy as np
        zeros = {name: np.zeros(self.shape[name], np.float32) for name in self.states}
        for _, steps in self.samples(which):
            for step in steps[:8]:
                yield {name: np.asarray(array) for name, array in {**zeros, **step}.items()}

    def score(self, bundle, which):
        from judge import scores
        return sum(scores(bundle, self.file, self.contract, which).values()) / len(self.samples(which))


def write_bundle(bundle, engine, file, inputs, outputs):
    """`file` and its neighbours of the same stem become the artifact of a bundle without settings."""
    shutil.rmtree(bundle, ignore_errors=True)
    (bundle / "artifact").mkdir(parents=True)
    for part in file.parent.glob(file.stem + ".*"):
        shutil.copy(part, bundle / "artifact")
    note = {"file": file.name, "inputs": inputs, "outputs": outputs, "options": {}}
    (bundle / "artifact/load.json").write_text(json.dumps(note))
    (bundle / "bundle.json").write_text(json.dumps({"device": "CPU", "properties": {}, "environment": {}, "engine": engine}))
    shutil.copy(TEMPLATES / f"{engine}.py", bundle / "engine.py")


def ports(model_file):
    import onnx
    graph = onnx.load(model_file, load_external_data=False).graph
    weights = {weight.name for weight in graph.initializer}
    return [port.name for port in graph.input if port.name not in weights], [port.name for port in graph.output]


def bundle_onnx(case, bundle, file):
    write_bundle(bundle, "onnxruntime", Path(file), *ports(case.model))


def bundle_openvino(case, bundle, model, scratch):
    import openvino
    names = [port.get_any_name() for port in model.inputs], [port.get_any_name() for port in model.outputs]
    openvino.save_model(model, scratch / "model.xml", compress_to_fp16=False)
    write_bundle(bundle, "openvino", scratch / "model.xml", *names)


def default(case, bundle, engine, scratch):
    if engine == "onnxruntime":
        shutil.copy(case.model, scratch / "model.onnx")
        bundle_onnx(case, bundle, scratch / "model.onnx")
    else:
        import openvino
        bundle_openvino(case, bundle, openvino.Core().read_model(case.model), scratch)
    return 1


class Reader:
    """Calibration data as ONNX Runtime's quantiser wants them."""

    def __init__(self, case):
        self.feeds = case.steps("calibration")

    def get_next(self):
        return next(self.feeds, None)


def ort_static(case, bundle, engine, scratch):
    from onnxruntime.quantization import quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process
    source = scratch / "prepared.onnx"
    try:
        quant_pre_process(str(case.model), str(source))
    except Exception as error:  # its documentation calls this step optional
        print(f"without pre-processing: {error}", file=sys.stderr)
        source = case.model
    quantize_static(str(source), str(scratch / "model.onnx"), Reader(case))
    if engine == "openvino":
        import openvino
        bundle_openvino(case, bundle, openvino.Core().read_model(scratch / "model.onnx"), scratch)
    else:
        bundle_onnx(case, bundle, scratch / "model.onnx")
    return 1


def nncf_model(case):
    import openvino
    model = openvino.Core().read_model(case.model)
    return model, [port.get_any_name() for port in model.inputs]


def nncf_ptq(case, bundle, engine, scratch):
    import nncf
    model, names = nncf_model(case)
    feeds = list(case.steps("calibration"))
    data = nncf.Dataset(feeds, lambda feed: [feed[name] for name in names])
    bundle_openvino(case, bundle, nncf.quantize(model, data, subset_size=len(feeds)), scratch)
    return 1


def nncf_accuracy(case, bundle, engine, scratch):
    import nncf
    import numpy as np
    from judge import scores_of_outputs
    model, names = nncf_model(case)
    feeds = list(case.steps("calibration"))
    data = nncf.Dataset(feeds, lambda feed: [feed[name] for name in names])
    judged = 0

    def validate(compiled, items):
        """Mean, and the score of each item: NNCF asks for all, and for the items that it ranks layers by."""
        nonlocal judged
        judged += 1
        folder = scratch / f"try{judged}"
        folder.mkdir()
        request, order = compiled.create_infer_request(), []
        for name, steps in items:
            request.infer([steps[0][key] for key in names])
            np.savez(folder / f"{name}.npz", **{port.get_any_name(): request.get_output_tensor(i).data
                                                for i, port in enumerate(compiled.outputs)})
            order.append(name)
        values = scores_of_outputs(folder, case.file, case.contract, "tuning", case.task)
        shutil.rmtree(folder)
        return sum(values.values()) / len(order), [values[name] for name in order]

    best = nncf.quantize_with_accuracy_control(
        model, data, nncf.Dataset(case.samples("tuning")), validate, max_drop=case.task["max_drop"],
        subset_size=len(feeds))
    bundle_openvino(case, bundle, best, scratch)
    return judged - 1  # it first asks for one item, to see what the function returns


def neural_compressor(case, bundle, engine, scratch):
    from neural_compressor import PostTrainingQuantConfig, quantization
    from neural_compressor.config import AccuracyCriterion
    builds, trouble = 0, ""

    def evaluate(model):
        nonlocal builds, trouble
        builds += 1
        import onnx
        onnx.save(model, scratch / "try.onnx")
        bundle_onnx(case, scratch / "tried", scratch / "try.onnx")
        try:
            return case.score(scratch / "tried", "tuning")
        except subprocess.CalledProcessError as error:  # raised here, it would end the whole search
            trouble = "; one does not run: " + error.stderr.strip().splitlines()[-1]
            print(trouble, file=sys.stderr)
            return 0.0

    class Loader:
        batch_size = 1

        def __iter__(self):
            for feed in case.steps("calibration"):
                yield feed, 0

    settings = PostTrainingQuantConfig(approach="static", accuracy_criterion=AccuracyCriterion(
        criterion="absolute", tolerable_loss=case.task["max_drop"]))
    best = quantization.fit(str(case.model), settings, calib_dataloader=Loader(), eval_func=evaluate)
    if best is None:
        raise RuntimeError(f"found nothing within max_drop in {builds - 1} tries{trouble}")
    best.save(str(scratch / "model.onnx"))
    bundle_onnx(case, bundle, scratch / "model.onnx")
    return builds - 1  # the first that it judges is the model as it came


def olive(case, bundle, engine, scratch):
    (scratch / "calibration.py").write_text(
        f"import sys\nsys.path.insert(0, {str(HERE)!r})\n"
        "from olive.data.registry import Registry\nfrom entrants import Case\n"
        "@Registry.register_dataset()\ndef contract_data(**_):\n"
        f"    return [(feed, 0) for feed in Case({str(case.file)!r}).steps('calibration')]\n"
        "@Registry.register_dataloader()\ndef as_they_are(dataset, **_):\n    return dataset\n")
    config = {
        "input_model": {"type": "ONNXModel", "model_path": str(case.model)},
        "data_configs": [{"name": "calibration", "type": "DataContainer", "user_script": str(scratch / "calibration.py"),
                          "load_dataset_config": {"type": "contract_data"},
                          "dataloader_config": {"type": "as_they_are"}}],
        "passes": {"quantise": {"type": "OnnxStaticQuantization", "data_config": "calibration"}},
        "output_dir": str(scratch / "out"), "cache_dir": str(scratch / "cache")}
    (scratch / "olive.json").write_text(json.dumps(config))
    done = subprocess.run([sys.executable, "-m", "olive", "run", "--config", str(scratch / "olive.json")],
                          capture_output=True, text=True)
    found = sorted((scratch / "out").rglob("*.onnx"))
    if done.returncode or not found:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
    bundle_onnx(case, bundle, found[0])
    return 1


PEERS = {"default": default, "ort_static": ort_static, "nncf_ptq": nncf_ptq, "nncf_accuracy": nncf_accuracy,
         "neural_compressor": neural_compressor, "olive": olive}


def main():
    peer, engine, contract, bundle = sys.argv[1:]
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with tempfile.TemporaryDirectory() as scratch:
        builds = PEERS[peer](Case(contract), Path(bundle).resolve(), engine, Path(scratch))
    print(json.dumps({"builds": builds}))


if __name__ == "__main__":
    main()
