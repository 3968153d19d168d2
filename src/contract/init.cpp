#include "contract/init.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "base/numbers.h"
#include "base/units.h"
#include "contract/contract.h"
#include "contract/sample_source.h"
#include "model/model_file.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxShapes =
    16;  // more shapes than that are no traffic mix that one can time

/// JSON's strings are TOML's and Python's too.
std::string in_quotes(std::string_view text) { return dump_json(Json(std::string(text))); }

std::string toml_key(std::string_view name) {
  const bool is_bare = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return is_bare ? std::string(name) : in_quotes(name);
}

bool is_integer(const ModelPort& port) {
  return port.dtype && !is_floating(*port.dtype) && *port.dtype != DType::kBool;
}

bool is_dynamic(const ModelPort& port) {
  return !port.dims ||
         std::ranges::any_of(*port.dims, [](const Dimension& dim) { return dim.size < 0; });
}

/// The shape with 1 for each dynamic axis: right for a batch, a question for all else.
Shape guessed_shape(const ModelPort& port) {
  Shape shape;
  if (!port.dims) return shape;
  for (const Dimension& dim : *port.dims) shape.push_back(dim.size < 0 ? 1 : dim.size);
  return shape;
}

std::string dynamic_axes(const ModelPort& port) {
  if (!port.dims) return "its rank is open";
  std::vector<std::string> axes;
  for (std::size_t axis = 0; axis < port.dims->size(); ++axis) {
    const Dimension& dim = (*port.dims)[axis];
    if (dim.size < 0)
      axes.push_back(dim.name.empty() ? fmt::format("axis {}", axis)
                                      : fmt::format("axis {} ({})", axis, dim.name));
  }
  return fmt::format("dynamic: {}", fmt::join(axes, ", "));
}

std::string shapes_section(const OnnxModel& model) {
  std::string lines;
  for (const ModelPort& port : model.inputs) {
    if (is_dynamic(port))
      lines += fmt::format("# {} = {}   # {}\n", toml_key(port.name),
                           to_string(guessed_shape(port)), dynamic_axes(port));
  }
  if (lines.empty())
    return "# All input shapes are fixed by the model, so [[model.shape]] is not needed.\n";
  return "# Which shapes does your traffic have? Write one table for each, with its share of the "
         "requests as weight. If you leave\n"
         "# them out, all tuning samples must have the same shape. The sizes below are only "
         "guesses (1 for what is dynamic).\n"
         "# [[model.shape]]\n# weight = 1.0\n" +
         lines;
}

std::string ranges_section(const OnnxModel& model) {
  std::string lines;
  for (const ModelPort& port : model.inputs) {
    if (!is_integer(port)) continue;
    lines += fmt::format(
        "# Which values may {} have? Samples outside the range are refused before any work.\n"
        "# [model.input.{}]\n# range = [0, 100]\n",
        port.name, toml_key(port.name));
  }
  return lines;
}

std::int64_t model_bytes(const OnnxModel& model) {
  std::error_code code;
  std::int64_t bytes = 0;
  for (const fs::path& file : model.external_data)
    bytes += static_cast<std::int64_t>(fs::file_size(file, code));
  const auto own = fs::file_size(model.path, code);
  return code ? bytes : bytes + static_cast<std::int64_t>(own);
}

/// Room for the weights a few times over (file, engine's layout, reordered copies) beside the
/// engine itself.
std::int64_t proposed_memory(const OnnxModel& model) {
  constexpr std::int64_t kGibi = std::int64_t{1} << 30;
  return (1 + 4 * model_bytes(model) / kGibi + 1) * kGibi;
}

std::string tensor_section(const OnnxModel& model) {
  std::string text = "# A quick filter; it may reject a candidate, never prove one.\n";
  for (const ModelPort& port : model.outputs) {
    if (!port.dtype || !is_floating(*port.dtype)) continue;
    text += fmt::format(
        "# [[accuracy.tensor]]\n# output = {}\n# metric = \"cosine\"\n# min    = 0.99\n",
        in_quotes(port.name));
  }
  return text;
}

std::string port_list(const OnnxModel& model) {
  std::string text;
  for (const ModelPort& port : model.inputs)
    text += fmt::format("#   input   {}\n", describe(port));
  for (const ModelPort& port : model.outputs)
    text += fmt::format("#   output  {}\n", describe(port));
  return text;
}

std::string task_section(const OnnxModel& model, std::string_view evaluator) {
  std::string text = fmt::format("[[accuracy.task]]\nname      = {}\nevaluator = {}\n",
                                 in_quotes(evaluator), in_quotes(evaluator));
  if (model.outputs.size() > 1)
    text += fmt::format("output    = {}\n", in_quotes(model.outputs[0].name));
  return text + "max_drop  = 0.01              # at most one in a hundred may turn wrong\n";
}

bool are_class_numbers(const Labels& labels) {
  return labels.has_labels && std::ranges::all_of(labels.rows, [](const LabelRow& row) {
           return number_from<std::uint32_t>(row.label).has_value();
         });
}

/// Shapes of the dynamic inputs, and how many samples have each.
Result<std::map<std::map<std::string, Shape>, std::int64_t>> count_shapes(const OnnxModel& model,
                                                                          SampleSource& source) {
  std::map<std::map<std::string, Shape>, std::int64_t> counts;
  if (std::ranges::none_of(model.inputs, is_dynamic)) return counts;
  for (std::int64_t i = 0; i < source.size(); ++i) {
    const RawSample sample = FIEL_TRY(source.read(i));
    std::map<std::string, Shape> shapes;
    for (const auto& [name, tensor] : sample.inputs) {
      const ModelPort* port = find_port(model.inputs, name);
      if (port != nullptr && is_dynamic(*port)) shapes[name] = tensor.shape;
    }
    ++counts[shapes];
  }
  return counts;
}

Result<std::string> found_shapes(const OnnxModel& model, SampleSource& source) {
  const auto counts = FIEL_TRY(count_shapes(model, source));
  if (counts.size() > kMaxShapes) {
    return fail(
        ErrorKind::kContract,
        fmt::format("the samples have {} different shapes, too many to time each", counts.size()),
        "pad them to a few sizes, or write a contract with the [[model.shape]] tables that matter: "
        "fiel init MODEL");
  }
  std::string text;
  if (counts.size() < 2) return text;  // the one shape is found in the data again
  for (const auto& [shapes, count] : counts) {
    text += fmt::format("[[model.shape]]\nweight = {}\n", count);
    for (const auto& [name, shape] : shapes)
      text += fmt::format("{} = {}\n", toml_key(name), to_string(shape));
  }
  return text;
}

std::string engine_list(const std::vector<std::string>& engines) {
  std::string list;
  for (const std::string& engine : engines) list += (list.empty() ? "" : ", ") + in_quotes(engine);
  return "[" + list + "]";
}

}  // namespace

std::string propose_contract(const OnnxModel& model, const std::vector<std::string>& engines) {
  std::error_code code;
  const fs::path here = fs::current_path(code);
  const fs::path relative = model.path.lexically_relative(here);
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  return fmt::format(
      "# What must be true of the fastest way to run this model? Edit, then: fiel tune "
      "contract.toml\n"
      "# docs/contract.md explains every key. Paths start at this file's folder.\n{}"
      "fiel = 1\n\n[model]\npath = {}\n{}{}\n"
      "[data]                          # three disjoint folders; `fiel init MODEL --script` prints "
      "a script that writes them\n"
      "calibration = \"data/calibration\"   # some 100 samples to choose number ranges with\n"
      "tuning      = \"data/tuning\"        # some hundreds, hard cases among them: they steer the "
      "search\n"
      "holdout     = \"data/holdout\"       # the more, the finer what it can prove: 370 for a "
      "margin of 1 %, 3700 for 0.1 %\n\n"
      "[target]\nengines  = {}\ndevice   = \"CPU\"\nbaseline = \"engine={}\"    # what you run today\n"
      "# cores  = \"0-1\"               # left out: all that fiel may use\n\n"
      "[workload]\nscenario  = \"single_stream\"     # one request after the other; or offline: "
      "all at once\n"
      "objective = \"latency_p50\"       # latency_mean | latency_p50 | latency_p90 | latency_p99 "
      "| throughput\n\n"
      "[limits]                        # candidates beyond these are out, however fast\n"
      "peak_memory = \"{}\"\nbuild_time  = \"5 min\"\n# latency_p99 = \"20 ms\"\n\n"
      "[speed]\nmin_gain   = 0.01               # a smaller gain is no gain\nconfidence = 0.95\n\n"
      "[accuracy]\nreference  = \"float32\"\nconfidence = 0.95\n"
      "claim      = \"future_data\"       # or \"this_set\": says nothing of other data, but needs "
      "no large hold-out\n{}"
      "# What decides. agreement: the same answer as the reference, without labels. With labels: "
      "top1, top5, binary,\n"
      "# absolute_error; or a program of yours that scores each sample: evaluator = [\"python3\", "
      "\"score.py\"].\n{}"
      "# [accuracy.task.slices]        # hard cases (labels.csv, column slice) with limits of "
      "their own\n"
      "# small = {{ max_drop = 0.03 }}\n\n"
      "[budget]\nwall = \"20 min\"\n",
      port_list(model), in_quotes(is_below ? relative.string() : model.path.string()),
      shapes_section(model), ranges_section(model), engine_list(engines), engines.front(), format_bytes(proposed_memory(model)),
      tensor_section(model), task_section(model, "agreement"));
}

std::string sample_script(const OnnxModel& model) {
  std::string inputs;
  bool has_bfloat16 = false;
  for (const ModelPort& port : model.inputs) {
    const std::string dtype = port.dtype ? std::string(to_string(*port.dtype)) : "object";
    has_bfloat16 = has_bfloat16 || dtype == "bfloat16";
    inputs += fmt::format("        {}: np.zeros({}, dtype={}),  # {}\n", in_quotes(port.name),
                          to_string(guessed_shape(port)),
                          dtype == "bfloat16" ? "ml_dtypes.bfloat16" : in_quotes(dtype),
                          is_dynamic(port) ? dynamic_axes(port) : "yours");
  }
  return fmt::format(
      "# Writes samples for {}: one .npz each, array names = input names, batch axis included.\n"
      "# Run it for data/calibration, data/tuning and data/holdout, with other samples in each.\n"
      "import csv, pathlib, sys\nimport numpy as np{}\n\n"
      "def load(i):  # sample i, preprocessed as your application does it: put your data in place "
      "of the zeros\n"
      "    label = \"\"  # the right answer, if you have it\n"
      "    return label, {{\n{}    }}\n\n"
      "folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else \"data/tuning\")\n"
      "folder.mkdir(parents=True, exist_ok=True)\n"
      "with open(folder / \"labels.csv\", \"w\", newline=\"\", encoding=\"utf-8\") as file:\n"
      "    rows = csv.writer(file)\n    rows.writerow([\"sample\", \"label\"])\n"
      "    for i in range(100):\n        label, inputs = load(i)\n"
      "        np.savez(folder / f\"{{i:06}}.npz\", **inputs)\n        "
      "rows.writerow([f\"{{i:06}}\", label])\n",
      model.path.filename().string(), has_bfloat16 ? ", ml_dtypes" : "", inputs);
}

Result<std::string> default_contract_text(const fs::path& model_path, const fs::path& data,
                                          const std::vector<std::string>& engines) {
  const OnnxModel model = FIEL_TRY(read_model(model_path));
  std::error_code code;
  const fs::path folder = fs::absolute(data, code).lexically_normal();
  if (!fs::is_directory(folder, code)) {
    return fail(
        ErrorKind::kContract, fmt::format("--data: there is no folder {}", folder.string()),
        "a data set is a folder of <sample>.npz files, one inputs.npz, or test_data_set_N folders");
  }
  auto source = FIEL_TRY(SampleSource::open(folder, Contract{}, model));
  const std::string shapes = FIEL_TRY(found_shapes(model, *source));
  const auto& labels = source->labels();
  const bool is_classifier = labels && are_class_numbers(*labels);
  std::string why = "# No labels: the same answer as the float32 reference is what counts.\n";
  if (labels && labels->has_labels)
    why =
        "# The labels are no class numbers, so the reference's answers count. A program of yours "
        "could score them.\n";
  if (is_classifier) why = "# labels.csv gives each sample its class.\n";
  return fmt::format(
      "# Written by fiel for `fiel tune {} --data {}`.\n"
      "fiel = 1\n\n[model]\npath = {}\n{}\n[data]\nsamples = {}   # split by content: calibration, "
      "tuning, hold-out\n\n"
      "[target]\nengines  = {}\ndevice   = \"CPU\"\nbaseline = \"engine={}\"\n\n"
      "[workload]\nscenario  = \"single_stream\"\nobjective = \"latency_p50\"\n\n"
      "[speed]\nmin_gain   = 0.01\nconfidence = 0.95\n\n"
      "[accuracy]\nreference  = \"float32\"\nconfidence = 0.95\nclaim      = "
      "\"future_data\"\n{}{}\n"
      "[budget]\nwall = \"15 min\"\n",
      model.path.filename().string(), folder.filename().string(), in_quotes(model.path.string()),
      shapes, in_quotes(folder.string()), engine_list(engines), engines.front(), why,
      task_section(model, is_classifier ? "top1" : "agreement"));
}

}  // namespace fiel
