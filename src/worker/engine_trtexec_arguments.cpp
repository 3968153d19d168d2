#include "worker/engine_trtexec_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "route/trtexec_route.h"
#include "worker/guard.h"
#include "worker/wanted_shapes.h"

namespace fiel::trtexec {
namespace {

std::unexpected<EngineError> unsupported(std::string message) { return engine_fail("unsupported", std::move(message)); }

// An option with the values 0 and 1 is a switch: trtexec has it or has it not.
bool is_switch(const Knob& knob) {
  return knob.values.size() == 2 && std::ranges::find(knob.values, "0") != knob.values.end() &&
         std::ranges::find(knob.values, "1") != knob.values.end();
}

EngineResult<> add(const CatalogueKnob& entry, const std::string& value, SettingArguments& into) {
  const Knob& knob = entry.knob;
  if (std::ranges::find(knob.values, value) == knob.values.end()) {
    return unsupported(fmt::format("{}={} is not known", knob.name, value));
  }
  if (value == entry.unset) return {};
  (entry.readback == "graph" ? into.build : into.run)
      .push_back(is_switch(knob) ? fmt::format("--{}", knob.name) : fmt::format("--{}={}", knob.name, value));
  return {};
}

}  // namespace

EngineResult<SettingArguments> arguments_of(const Settings& settings, const std::vector<CatalogueKnob>& catalogue) {
  SettingArguments arguments{.build = {}, .run = {}, .build_route = to_trtexec_route(settings)};
  for (const auto& [name, value] : settings) {
    if (name.starts_with(kTrtexecRoutePrefix)) continue;
    const CatalogueKnob* entry = find_knob(catalogue, name);
    if (entry == nullptr) return unsupported(fmt::format("{}: no such knob", name));
    if (name == "parallel_requests") {
      const auto streams = number_from<int>(value);
      if (!streams || *streams < 1) return unsupported(fmt::format("parallel_requests={} is no count", value));
      if (*streams > 1) arguments.run.push_back(fmt::format("--infStreams={}", *streams));
    } else if (entry->knob.kind == KnobKind::kProperty) {
      FIEL_TRY_ENGINE(add(*entry, value, arguments));
    }
  }
  // trtexec wants the permission again where it runs an engine that has it.
  if (std::ranges::any_of(arguments.run, [](const std::string& word) { return word.starts_with("--weightStreamingBudget="); })) {
    arguments.run.emplace_back("--allowWeightStreaming");
  }
  if (!arguments.build_route.empty()) arguments.build.push_back("--setBuildRoute=" + arguments.build_route);
  return arguments;
}

EngineResult<int> device_index(const std::string& device) {
  if (device == "CPU") return 0;
  for (const std::string_view family : {"GPU", "CUDA"}) {
    if (!device.starts_with(family)) continue;
    const std::string_view rest = std::string_view(device).substr(family.size());
    if (rest.empty()) return 0;
    const auto index = rest.starts_with('.') || rest.starts_with(':') ? number_from<int>(rest.substr(1)) : std::nullopt;
    if (index && *index >= 0) return *index;
  }
  return unsupported(fmt::format("device \"{}\": TensorRT runs on NVIDIA GPUs; write \"GPU\" or \"GPU.1\" as device in [target]", device));
}

std::string shape_word(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string word;
  for (const std::int64_t size : shape) word += fmt::format("{}{}", word.empty() ? "" : "x", size);
  return word;
}

// trtexec cuts lists at commas before it looks at quotes.
EngineResult<std::string> named_word(const std::string& name, const std::string& word) {
  if (name.empty() || name.find_first_of(",'*") != std::string::npos) {
    return unsupported(fmt::format("trtexec's command line can't name the tensor \"{}\": a comma, a quote or a star is in it", name));
  }
  const bool quotes = name.find(':') != std::string::npos;
  return fmt::format("{0}{1}{0}:{2}", quotes ? "'" : "", name, word);
}

EngineResult<Profile> profile_of(const OnnxModel& model, const BuildRequest& request) {
  const std::int64_t batch = FIEL_TRY_ENGINE(batch_of(request.settings));
  Profile profile;
  std::string least, first, most;
  const auto append = [](std::string& list, const std::string& word) { list += (list.empty() ? "" : ",") + word; };
  for (const ModelPort& input : model.inputs) {
    if (!input.dims) return unsupported(fmt::format("the model gives no number of axes for the input \"{}\"", input.name));
    Shape port;
    for (const Dimension& dimension : *input.dims) port.push_back(dimension.size);
    const bool dynamic = std::ranges::any_of(port, [](std::int64_t size) { return size < 0; });
    if (batch > 1 && (port.empty() || port[0] >= 0)) {
      return unsupported(fmt::format("batch={}: the first axis of input \"{}\" is fixed", batch, input.name));
    }
    if (dynamic) {
      if (request.shapes.empty()) return engine_fail("bad_request", "\"shapes\" is empty, and the model has dynamic axes");
      Shape low, high, typical;
      for (const auto& shapes : request.shapes) {
        const auto given = shapes.find(input.name);
        if (given == shapes.end() || given->second.size() != port.size()) {
          return engine_fail("bad_request", fmt::format("\"shapes\" says nothing fitting of input \"{}\"", input.name));
        }
        if (low.empty()) low = high = typical = given->second;
        for (std::size_t axis = 0; axis < port.size(); ++axis) {
          low[axis] = std::min(low[axis], given->second[axis]);
          high[axis] = std::max(high[axis], given->second[axis]);
        }
      }
      if (port[0] < 0) {
        high[0] *= batch;
        typical[0] *= batch;
      }
      for (std::size_t axis = 0; axis < port.size(); ++axis) {
        if (low[axis] == high[axis]) port[axis] = low[axis];
      }
      append(least, FIEL_TRY_ENGINE(named_word(input.name, shape_word(low))));
      append(first, FIEL_TRY_ENGINE(named_word(input.name, shape_word(typical))));
      append(most, FIEL_TRY_ENGINE(named_word(input.name, shape_word(high))));
    }
    profile.port_shapes[input.name] = port;
  }
  if (!least.empty()) {
    profile.arguments = {"--minShapes=" + least, "--optShapes=" + first, "--maxShapes=" + most};
  }
  return profile;
}

}  // namespace fiel::trtexec
