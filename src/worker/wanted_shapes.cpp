#include "worker/wanted_shapes.h"

#include <fmt/format.h>

#include "base/numbers.h"
#include "worker/guard.h"

namespace fiel {
namespace {

std::unexpected<EngineError> unsupported(std::string message) { return engine_fail("unsupported", std::move(message)); }

std::string setting(const Settings& settings, const std::string& name, const char* otherwise) {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : found->second;
}

EngineResult<Shape> widened(const std::string& name, Shape shape, std::int64_t batch) {
  if (shape.empty()) return unsupported(fmt::format("batch={}: input \"{}\" is a scalar", batch, name));
  if (shape[0] >= 0) shape[0] *= batch;  // a dynamic axis takes a batch as it is
  return shape;
}

}  // namespace

EngineResult<std::vector<std::optional<Shape>>> wanted_shapes(const std::vector<ModelInput>& inputs,
                                                              const BuildRequest& request) {
  const std::string shape = setting(request.settings, "shape", "dynamic");
  if (shape != "static" && shape != "dynamic") {
    return unsupported(fmt::format("shape={} is not static or dynamic", shape));
  }
  if (shape == "static" && request.shapes.size() != 1) {
    return unsupported(fmt::format("shape=static needs one traffic shape, there are {}", request.shapes.size()));
  }
  const std::int64_t batch = FIEL_TRY_ENGINE(batch_of(request.settings));
  std::vector<std::optional<Shape>> wanted;
  for (const ModelInput& input : inputs) {
    std::optional<Shape> one = input.shape;
    if (shape == "static") {
      const auto given = request.shapes.front().find(input.name);
      if (given == request.shapes.front().end()) {
        return engine_fail("bad_request", fmt::format("shape=static: \"shapes\" says nothing of input \"{}\"", input.name));
      }
      one = given->second;
    }
    if (batch > 1 && one) one = FIEL_TRY_ENGINE(widened(input.name, *std::move(one), batch));
    wanted.push_back(std::move(one));
  }
  return wanted;
}

EngineResult<std::int64_t> batch_of(const Settings& settings) {
  const std::string value = setting(settings, "batch", "1");
  const auto batch = number_from<std::int64_t>(value);
  if (!batch || *batch < 1) return unsupported(fmt::format("batch={} is no positive integer", value));
  return *batch;
}

}  // namespace fiel
