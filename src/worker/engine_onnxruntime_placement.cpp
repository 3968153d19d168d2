#include "worker/engine_onnxruntime_placement.h"

#include <fmt/format.h>

#include <charconv>

namespace fiel {

// " All nodes placed on [CPUExecutionProvider]. Number of nodes: 12", or " Node(s) placed on [" for each of several.
void SessionLog::take(std::string_view text) {
  constexpr std::string_view kStart = "placed on [", kMiddle = "]. Number of nodes: ";
  const std::size_t start = text.find(kStart);
  const std::size_t middle = start == std::string_view::npos ? start : text.find(kMiddle, start);
  if (middle == std::string_view::npos) return;
  const std::string_view count = text.substr(middle + kMiddle.size());
  int nodes = 0;
  std::from_chars(count.data(), count.data() + count.size(), nodes);
  const std::size_t name = start + kStart.size();
  placement[std::string(text.substr(name, middle - name))] += nodes;
}

std::map<std::string, int> placement_of(const SessionLog& log, const std::string& provider) {
  std::map<std::string, int> placement;
  bool any = false;
  for (const auto& [name, nodes] : log.placement) {
    placement["CPU, " + name] = nodes;
    any = any || (name != "CPUExecutionProvider" && nodes > 0);
  }
  if (any || log.placement.empty()) return placement;
  return {{fmt::format("ONNX Runtime's CPU provider (none on {})", provider), log.placement.begin()->second}};
}

}  // namespace fiel
