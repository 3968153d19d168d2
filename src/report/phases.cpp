#include "report/phases.h"

#include <algorithm>
#include <array>
#include <string>

namespace fiel {
namespace {

struct Phase {
  std::string_view name;
  std::string_view words;
  std::array<std::string_view, 3> types;  // of events
};

constexpr std::array<Phase, 14> kPhases = {{
    {"set_up", "reading model and data, meeting the engines", {"run", "decidable", "engine"}},
    {"build", "building", {"build", "variant", ""}},
    {"variants", "observing the model for its variants", {"observe", "sensitivity", "ranges"}},
    {"reference", "the reference's outputs", {"reference", "", ""}},
    {"gate", "accuracy on tuning data", {"gate", "consistency", ""}},
    {"anchors", "timing what is there before the search", {"anchors", "", ""}},
    {"search", "choosing routes", {"candidate", "last_winner", "search_end"}},
    {"probe", "probing and first timings", {"probe", "", ""}},
    {"race", "the race", {"race", "race_end", ""}},
    {"confirm", "proof of speed", {"confirm", "confirm_end", ""}},
    {"holdout", "proof of accuracy", {"opening", "holdout_reference", "holdout"}},
    {"estimate", "sessions for the speed-up", {"estimate", "", ""}},
    {"decide", "deciding", {"comparator", "verdict", ""}},
    {"other", "other", {"", "", ""}},
}};

const Phase& phase_with(std::string_view event_type) {
  const auto found = std::ranges::find_if(kPhases, [&](const Phase& phase) {
    return !event_type.empty() && std::ranges::find(phase.types, event_type) != phase.types.end();
  });
  return found == kPhases.end() ? kPhases.back() : *found;
}

}  // namespace

std::string_view phase_of(std::string_view event_type) { return phase_with(event_type).name; }

std::string_view phase_words(std::string_view phase) {
  const auto found = std::ranges::find_if(kPhases, [&](const Phase& known) { return known.name == phase; });
  return found == kPhases.end() ? phase : found->words;
}

std::vector<PhaseTime> time_by_phase(std::span<const Event> events) {
  std::array<double, kPhases.size()> seconds{};
  double before = 0;
  for (const Event& event : events) {
    const auto index = static_cast<std::size_t>(&phase_with(event.type) - kPhases.data());
    seconds[index] += event.spent_seconds - before;
    before = event.spent_seconds;
  }
  std::vector<PhaseTime> phases;
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    if (seconds[i] > 0) phases.push_back({.name = std::string(kPhases[i].name), .seconds = seconds[i]});
  }
  return phases;
}

}  // namespace fiel
