#include "tune/bundle_environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/fields.h"

namespace fiel {
namespace {

// Those of `some` that are not among `others`.
std::vector<std::string> without(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  for (const std::string& one : some) {
    if (std::ranges::find(others, one) == others.end()) rest.push_back(one);
  }
  return rest;
}

// "CPU: AMD EPYC", "GPU.0: …": the lines that a device's name begins; all where it names none of them ("AUTO").
std::vector<std::string> lines_of_device(const std::vector<std::string>& devices, const std::string& device) {
  std::vector<std::string> lines;
  for (const std::string& line : devices) {
    if (!device.empty() && line.starts_with(device)) lines.push_back(line);
  }
  return lines.empty() ? devices : lines;
}

}  // namespace

std::vector<std::string> environment_differences(const Json& bundle, const Here& here) {
  std::vector<std::string> lines;
  const auto differ = [&](std::string_view what, const std::string& then, const std::string& now) {
    if (!then.empty() && then != now) lines.push_back(fmt::format("{}: measured with {}, here is {}", what, then, now));
  };
  differ("engine", fields::text(bundle, "engine"), here.engine.engine);
  differ("version of " + fields::text(bundle, "engine"), fields::text(bundle, "engine_version"), here.engine.version);
  const std::string device = fields::text(bundle, "device");
  differ("device", fmt::format("{}", fmt::join(lines_of_device(fields::texts(bundle, "devices"), device), ", ")),
         fmt::format("{}", fmt::join(lines_of_device(here.engine.devices, device), ", ")));
  differ("CPU", fields::text(bundle, "cpu"), here.machine.cpu);
  const auto cpus = fields::integer(bundle, "cpu_count");
  if (cpus.value_or(0) > 0) differ("number of cores", fmt::format("{}", *cpus), fmt::format("{}", here.machine.cpu_count));
  const auto features = fields::texts(bundle, "cpu_features");
  if (const auto lacking = without(features, here.engine.cpu_features); !lacking.empty()) {
    lines.push_back(fmt::format("this CPU lacks {}", fmt::join(lacking, ", ")));
  }
  if (const auto more = without(here.engine.cpu_features, features); !more.empty()) {
    lines.push_back(fmt::format("this CPU also has {}, so the engine would choose other code", fmt::join(more, ", ")));
  }
  if (!here.missing_cores.empty()) {
    lines.push_back(fmt::format("core {} is not there, or not for this process to use", fmt::join(here.missing_cores, ", ")));
  }
  return lines;
}

std::vector<std::string> effective_differences(const Json& bundle, const Json& effective_now) {
  std::vector<std::string> lines;
  const auto now = fields::text_map(effective_now, "settings");
  for (const auto& [name, then] : fields::text_map(bundle, "effective")) {
    const auto found = now.find(name);
    if (found == now.end() || found->second == then) continue;
    lines.push_back(fmt::format("{} was {} in effect, here it is {}", name, then, found->second));
  }
  return lines;
}

}  // namespace fiel
