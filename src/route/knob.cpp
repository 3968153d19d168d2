#include "route/knob.h"

#include <array>

namespace fiel {
namespace {

constexpr std::array kAllKinds{KnobKind::kProperty, KnobKind::kEnvironment, KnobKind::kVariant,
                               KnobKind::kShape,    KnobKind::kBatch,       KnobKind::kRuntime};

}  // namespace

std::string_view to_string(KnobKind kind) {
  switch (kind) {
    case KnobKind::kProperty:
      return "property";
    case KnobKind::kEnvironment:
      return "environment";
    case KnobKind::kVariant:
      return "variant";
    case KnobKind::kShape:
      return "shape";
    case KnobKind::kBatch:
      return "batch";
    case KnobKind::kRuntime:
      return "runtime";
  }
  return "unknown";
}

std::optional<KnobKind> parse_knob_kind(std::string_view name) {
  for (const KnobKind kind : kAllKinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace fiel
