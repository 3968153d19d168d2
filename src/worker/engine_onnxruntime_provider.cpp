#include "worker/engine_onnxruntime_provider.h"

#include <fmt/format.h>

namespace fiel {

std::string provider_of(const Settings& settings) {
  const auto found = settings.find("provider");
  return found == settings.end() ? "CPU" : found->second;
}

ProviderOptions provider_options(const Settings& settings) {
  const std::string prefix = fmt::format("{}{}.", kProviderOption, provider_of(settings));
  ProviderOptions options;
  for (const auto& [name, value] : settings) {
    if (name.starts_with(prefix)) options[name.substr(prefix.size())] = value;
  }
  return options;
}

}  // namespace fiel
