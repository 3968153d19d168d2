#!/usr/bin/env -S python3 -SE
"""A double of NVIDIA's trtexec for tests: the same options, banners, files and ends, and no GPU.

What it is a double of stands in a JSON file beside it, named as this file is called and ".json": so a test copies or links it
into a folder of its own. Keys, all optional:

  version     10900: what it says to be of (TensorRT 10.9.0); from 110100 on it has build routes
  device      the GPU's name; null: it finds none
  inputs, outputs   [{"name", "type": "fp32", "dims": [-1, 10], "rule": "copy" | "double" | "class" | "table"}]; rules are of the first
                    input, and "class" answers each row with 1 at the place that is the whole part of its first number, and 0 else;
                    "table" answers what the output's "table" has under the SHA-256 of the input's file, and what its "dims" fill with 0 else
  latency_ms  of the whole query; compute_ms the part of it that the GPU computes
  knobs       [{"option": "-copy_ppg", "allowed_values": "-copy_ppg=[on|off]", "default_value": "on", "help": "...",
                "latency": {"off": 0.7}, "overridden": true (the compiler does as it likes), "fault": {"off": "crash"}}]
  options     {"--builderOptimizationLevel=5": 0.9, "--noTF32": 1.1}: factors of options of the build, and of runs
  faults      {"--fp16": "nan", "*": "unsupported_type"}: what goes wrong under an option, or always

Faults: build_error, crash (of the build), unsupported_type, out_of_memory, hang, no_engine (ends well, writes none), crash_run,
hang_run, nan, wrong, empty_times, short_output. Latencies are told, never waited for.
"""
import hashlib
import itertools
import json
import os
import random
import struct
import sys
import time

SIZES = {"fp32": ("f", 4), "int32": ("i", 4), "int64": ("q", 8), "fp16": ("e", 2), "int8": ("b", 1), "uint8": ("B", 1)}
HELP = {
    "both": ["onnx=<file>", "minShapes=spec", "optShapes=spec", "maxShapes=spec", "memPoolSize=poolspec", "profilingVerbosity=mode",
             "avgTiming=M", "sparsity=spec", "noTF32", "saveEngine=<file>", "loadEngine=<file>", "tacticSources=tactics",
             "timingCacheFile=<file>", "builderOptimizationLevel", "maxAuxStreams=N", "tilingOptimizationLevel",
             "allowWeightStreaming", "weightStreamingBudget", "shapes=spec", "loadInputs=spec", "iterations=N", "warmUp=N",
             "duration=N", "infStreams=N", "exposeDMA", "useManagedMemory", "persistentCacheRatio", "skipInference",
             "useCudaGraph", "useSpinWait", "dumpRawBindingsToFile", "exportTimes=<file>", "exportOutput=<file>",
             "exportLayerInfo=<file>", "device=N", "stronglyTyped", "noDataTransfers", "help, -h"],
    "10": ["fp16", "bf16", "int8"],
    "11": ["includeDataTransfers", "noCudaGraph", "noSpinWait"],
    "routes": ["setBuildRoute=<route>", "helpBuildRoute[=<knob>]", "tuneBuildRoutes=<expr>", "tuningCacheFile=<f>"],
}


def main():
    with open(os.path.abspath(sys.argv[0]) + ".json") as file:
        double = Double(json.load(file))
    sys.exit(double.main(sys.argv[1:]))


class Double:
    def __init__(self, script):
        self.script = script
        self.version = script.get("version", 110100)
        self.name = f"TensorRT.trtexec [TensorRT v{self.version}] [b106] # {' '.join(sys.argv)}"
        groups = ["both", "11" if self.version >= 110000 else "10"] + (["routes"] if self.version >= 110100 else [])
        self.lines = [line for group in groups for line in HELP[group]]

    def say(self, text, level="I"):
        print(f"[11/30/2026-12:00:00] [{level}] {text}", file=sys.stderr if level == "E" else sys.stdout, flush=True)

    def fail(self, text):
        self.say(text, "E")
        print(f"&&&& FAILED {self.name}", flush=True)
        return 1

    def help(self):
        print("=== Model Options ===")
        for line in self.lines:
            print(f"  --{line:<30}does what the real one does")

    def main(self, words):
        print(f"&&&& RUNNING {self.name}", flush=True)
        known = {line.split("=")[0].split(",")[0].split("[")[0] for line in self.lines}
        if "--help" in words:
            self.help()
            return 0
        self.options = dict(word[2:].partition("=")[::2] for word in words)
        strange = [name for name in self.options if name not in known]
        if strange:
            self.help()
            self.say(f"Unknown option: --{strange[0]} ", "E")
            return 1
        if "weightStreamingBudget" in self.options and "allowWeightStreaming" not in self.options:
            self.say("The weight streaming budget can only be set with --allowWeightStreaming specified.", "E")
            return 1
        if "helpBuildRoute" in self.options:
            hidden = ("latency", "overridden", "fault")
            knobs = [{k: v for k, v in knob.items() if k not in hidden} for knob in self.script.get("knobs", [])]
            print(json.dumps({"tuner_version": "2.17.83", "tuner_options": knobs}, indent=2))
            return 0
        if not self.device():
            return 1
        self.say(f"TensorRT version: {self.version // 10000}.{self.version // 100 % 100}.{self.version % 100}")
        try:
            if "tuneBuildRoutes" in self.options:
                return self.tune()
            if "loadEngine" in self.options:
                return self.run()
            return self.build(words)
        except Ended as ended:
            return self.fail(str(ended))

    def device(self):
        self.say("=== Device Information ===")
        name = self.script.get("device", "NVIDIA Double 1")
        if name is None:
            self.say("Cannot find any available devices (GPUs)!")
            return False
        self.say("Available Devices: ")
        self.say(f"  Device 0: \"{name}\" UUID: GPU-0")
        self.say(f"Selected Device: {name}")
        self.say("Selected Device ID: 0")
        self.say("Compute Capability: 9.0")
        return True

    # What a build or a run meets: the faults and the factor of its options and its route.
    def effect(self, words):
        factor, faults = 1.0, [self.script.get("faults", {}).get("*")]
        for word in words:
            factor *= self.script.get("options", {}).get(word, 1.0)
            faults.append(self.script.get("faults", {}).get(word))
        settings = dict(word[1:].split("=", 1) for word in self.options.get("setBuildRoute", "").split())
        acting = {}
        for knob in self.script.get("knobs", []):
            value = settings.pop(knob["option"][1:], knob["default_value"])
            if knob.get("overridden"):
                continue
            acting[knob["option"]] = value
            factor *= knob.get("latency", {}).get(value, 1.0)
            faults.append(knob.get("fault", {}).get(value))
        if settings:
            raise Ended(f"Unknown knob: -{next(iter(settings))}")
        return factor, [fault for fault in faults if fault], acting

    def build(self, words):
        factor, faults, acting = self.effect(words)
        self.say("Start parsing network model.")
        if "unsupported_type" in faults:
            self.say("[TRT] ModelImporter.cpp:137: ERROR: onnxOpImporters.cpp:1 In function importCast: [8] UNSUPPORTED_NODE: "
                     "Unsupported data type", "E")
            return self.fail("Failed to parse onnx file")
        if "out_of_memory" in faults:
            self.say("[TRT] [virtualMemoryBuffer.cpp::resizePhysical::154] Error Code 2: OutOfMemory (no further information)", "E")
            return self.fail("Engine could not be created from network")
        if "build_error" in faults:
            self.say("[TRT] IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any implementation "
                     "for node)", "E")
            return self.fail("Engine set up failed")
        if "crash" in faults:
            os.kill(os.getpid(), 11)
        if "hang" in faults:
            time.sleep(3600)
        self.say("[TRT] [MemUsageStats] Peak memory usage of TRT CPU/GPU memory allocators: CPU 2 MiB, GPU 171 MiB")
        self.say("Engine built in 1.5 sec.")
        if "no_engine" not in faults:
            ignored = {"saveEngine", "exportLayerInfo", "setBuildRoute", "onnx", "timingCacheFile"}
            acts = {name: value for name, value in self.options.items() if name not in ignored}
            with open(self.options["saveEngine"], "w") as file:
                json.dump({"factor": factor, "faults": faults, "acting": acting, "options": acts}, file)
        if "exportLayerInfo" in self.options:
            layer = {"Name": "node", "LayerType": "kgen", "Outputs": [{"Name": "y", "Dimensions": [1, 10], "Format/Datatype": "Half"}]}
            with open(self.options["exportLayerInfo"], "w") as file:
                json.dump({"Layers": [layer], "Bindings": ["x", "y"]}, file)
        self.say("Skipped inference phase since --skipInference is added.")
        print(f"&&&& PASSED {self.name}", flush=True)
        return 0

    # Every route of "-a=[x|y] -b=[...]" gets its line in the cache; the fastest one is saved.
    def tune(self):
        knobs = [(name, values.strip("[]").split("|")) for name, values in
                 (word[1:].split("=", 1) for word in self.options["tuneBuildRoutes"].split())]
        default = " ".join(f"-{name}={values[0]}" for name, values in knobs)
        header = {"tuner_version": "2.17.83", "accuracy_algorithm": "l0", "accuracy_parameter": {}, "searching_algorithm": "fast",
                  "command_line": " ".join(sys.argv), "default_build_route": default, "tuning_expr": self.options["tuneBuildRoutes"],
                  "files": {"onnx": self.options.get("onnx", "")}, "argv": sys.argv}
        lines = [header]
        for number, choice in enumerate(itertools.product(*(values for _, values in knobs))):
            self.options["setBuildRoute"] = " ".join(f"-{name}={value}" for (name, _), value in zip(knobs, choice))
            factor, faults, _ = self.effect([])
            lines.append({"iter": number, "build_route": self.options["setBuildRoute"], "crash": "crash" in faults, "error_message": "",
                          "accuracy_loss": {}, "gpu_time": self.script.get("compute_ms", 1.0) * factor})
        with open(self.options["tuningCacheFile"], "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        print(f"&&&& PASSED {self.name}", flush=True)
        return 0

    def shapes(self):
        told = dict(word.rsplit(":", 1) for word in self.options.get("shapes", "").split(",") if word)
        shapes = {}
        for port in self.script["inputs"]:
            name, dims = port["name"], port["dims"]
            if name in told:
                dims = [int(size) for size in told[name].split("x")]
            elif -1 in dims:
                raise Ended(f"Dynamic dimensions required for input: {name}")
            shapes[name] = dims
        return shapes

    def run(self):
        try:
            with open(self.options["loadEngine"]) as file:
                engine = json.load(file)
        except OSError:
            return self.fail(f"Error opening engine file: {self.options['loadEngine']}")
        factor, faults, _ = self.effect(sys.argv[1:])
        factor, faults = factor * engine["factor"], faults + engine["faults"]
        if "crash_run" in faults:
            os.kill(os.getpid(), 6)
        if "hang_run" in faults:
            time.sleep(3600)
        self.say("[TRT] [MemUsageChange] TensorRT-managed allocation in IExecutionContext creation: CPU +0, GPU +5, now: CPU 0, "
                 "GPU 8 (MiB)")
        inputs = self.load_inputs(self.shapes())
        self.say("Starting inference")
        latencies = self.times(factor, "empty_times" in faults)
        self.say(f"Latency: min = {latencies[0]:g} ms, max = {latencies[-1]:g} ms, mean = {sum(latencies) / len(latencies):g} ms, "
                 f"median = {latencies[len(latencies) // 2]:g} ms, percentile(99%) = {latencies[-1]:g} ms")
        if "dumpRawBindingsToFile" in self.options:
            self.dump(inputs, faults)
        print(f"&&&& PASSED {self.name}", flush=True)
        return 0

    def load_inputs(self, shapes):
        files = dict(word.rsplit(":", 1) for word in self.options.get("loadInputs", "").split(",") if word)
        inputs = {}
        for port in self.script["inputs"]:
            name, (letter, size) = port["name"], SIZES[port["type"]]
            count = product(shapes[name])
            self.digest = ""
            if name not in files:
                self.say(f"Using random values for input {name}")
                inputs[name] = (shapes[name], (0,) * count)
                continue
            with open(files[name], "rb") as file:
                data = file.read()
            if len(data) != count * size:
                raise Ended(f"Unexpected file size for input file: {files[name]}. Note: Input binding size is: {count * size} "
                            f"bytes but the file size is {len(data)} bytes.")
            self.digest = hashlib.sha256(data).hexdigest()
            self.say(f"Using values loaded from {files[name]} for input {name}")
            inputs[name] = (shapes[name], struct.unpack(f"<{count}{letter}", data))
        return inputs

    def times(self, factor, empty):
        draw = random.Random(os.getpid() ^ time.monotonic_ns())
        process = draw.lognormvariate(0, 0.003)
        transfers = "noDataTransfers" not in self.options and (self.version < 110000 or "includeDataTransfers" in self.options)
        compute = self.script.get("compute_ms", 1.0) * factor * process
        copies = self.script.get("latency_ms", 1.2) - self.script.get("compute_ms", 1.0) if transfers else 0.0
        at, rows, latencies = 0.0, [], []
        least, longest = int(self.options.get("iterations", 10)), float(self.options.get("duration", 3)) * 1000
        while len(rows) < least or at < longest:
            one = compute * draw.lognormvariate(0, 0.02)
            marks = [at, at + copies / 2, at + copies / 2, at + copies / 2 + one, at + copies / 2 + one, at + copies + one]
            names = ["startH2dMs", "endH2dMs", "startComputeMs", "endComputeMs", "startD2hMs", "endD2hMs"]
            row = {"startEnqMs": at, "endEnqMs": at + 0.01, **dict(zip(names, marks)), "h2dMs": copies / 2, "computeMs": one,
                   "d2hMs": copies / 2, "latencyMs": copies + one}
            rows.append("{ " + ", ".join(f"\"{key}\" : {value:.6g}" for key, value in row.items()) + " }")
            at += copies + one
            latencies.append(copies + one)
        if "exportTimes" not in self.options:
            return sorted(latencies)
        with open(self.options["exportTimes"], "w") as file:
            file.write("[\n  " + "\n, ".join([] if empty else rows) + "\n]\n")
        return sorted(latencies)

    def dump(self, inputs, faults):
        self.say("Dumping I/O Bindings to RAW Files:")
        dims, values = next(iter(inputs.values()))
        for port in self.script["outputs"]:
            letter, _ = SIZES[port["type"]]
            made, shape = self.answers(port, dims[-1], values), dims
            if port.get("rule") == "table":
                shape = [dims[0], *port["dims"][1:]]
            if "nan" in faults:
                made[0] = float("nan")
            if "wrong" in faults:
                made = made[1:] + made[:1]
            shown = ".".join(map(str, shape))
            file = f"{port['name']}.output.{shown}.{port['type']}.raw"
            self.say(f"Writing file for output binding {port['name']} (with datatype {port['type']} and dimensions {shown}) to {file}")
            data = struct.pack(f"<{len(made)}{letter}", *made)
            with open(file, "wb") as out:
                out.write(data[:-1] if "short_output" in faults else data)

    def answers(self, port, width, values):
        rule = port.get("rule")
        if rule == "table":
            return port["table"].get(self.digest) or [0.0] * product(port["dims"][1:])
        if rule == "double":
            return [value * 2 for value in values]
        if rule == "class":
            return [float(place == int(values[row])) for row in range(0, len(values), width) for place in range(width)]
        return list(values)


class Ended(Exception):
    """What the real one says before it fails."""


def product(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


if __name__ == "__main__":
    main()
