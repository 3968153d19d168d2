// What can be turned? One option of an engine, of its process environment or of a variant, with a
// closed set of values and a default. Knows no engine and no value's meaning.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fiel {

enum class KnobKind {
  kProperty,     // an option of the engine
  kEnvironment,  // a variable in the environment of a fresh process
  kVariant,      // a rewriting of the model
  kShape,        // static or dynamic shapes
  kBatch,        // samples run together
  kRuntime,      // how the engine is called
};
/// "property", "environment", "variant", "shape", "batch", "runtime".
std::string_view to_string(KnobKind kind);
std::optional<KnobKind> parse_knob_kind(std::string_view name);

/// The knob counts only while another one counts and has one of these values.
struct Condition {
  std::string knob;
  std::vector<std::string> values;
};

struct Knob {
  std::string name;
  KnobKind kind = KnobKind::kProperty;
  std::vector<std::string> values;
  std::string default_value;  // one of `values`, except in a space restricted by hand
  std::string help;
  std::vector<Condition> only_if;  // all must hold
  /// Value -> another one that it stands in for: at most as fast as that, so worth a try only where that one pays and may yet turn
  /// out not to be accurate enough, or has.
  std::map<std::string, std::string> stand_ins = {};
  /// Each from the fastest value to the most accurate one: where the first is not accurate enough, halving finds the first that is.
  std::vector<std::vector<std::string>> ladders = {};
};

}  // namespace fiel
