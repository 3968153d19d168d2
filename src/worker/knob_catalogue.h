// Which knobs does a worker offer here, with which values? A catalogue file of ours
// (knobs_<engine>.toml) says what makes sense, the engine what it knows and its defaults, the
// machine what can have an effect. Engine-neutral.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "route/knob.h"
#include "worker/machine_facts.h"

namespace fiel {

struct CatalogueKnob {
  Knob knob;                  // default_value may be empty: the engine's own
  bool unadvertised = false;  // accepted by the engine, though it lists no such property
  bool always = false;  // offered even where only its default is left (float32 must stay nameable)
  std::string unset;    // this value is not handed to the engine at all
  std::vector<std::string>
      delegates;  // values by which the engine chooses: another read-back is no disobedience
  std::string
      readback;  // "engine" (a property of its own), "graph" (the graph that runs shows it), "none"
  std::vector<std::string> needs;  // facts, all of them
  std::map<std::string, std::vector<std::string>> value_needs;
};

/// Strict: an unknown key or kind is an error, since the file is ours.
Result<std::vector<CatalogueKnob>> parse_catalogue(std::string_view toml);
const CatalogueKnob* find_knob(const std::vector<CatalogueKnob>& catalogue, std::string_view name);

struct KnobOffer {
  std::vector<Knob> knobs;
  struct LeftOut {
    std::string name;
    std::string why;
  };
  std::vector<LeftOut> left_out;
};

/// `engine_defaults` are the engine's mutable properties with the values that they have.
KnobOffer offer_knobs(const std::vector<CatalogueKnob>& catalogue, const MachineFacts& machine,
                      const std::map<std::string, std::string>& engine_defaults);

/// "INFERENCE_PRECISION_HINT=bf16 ran as f32" for every setting whose read-back says otherwise.
std::vector<std::string> ignored_settings(const std::map<std::string, std::string>& asked,
                                          const std::map<std::string, std::string>& effective,
                                          const std::vector<CatalogueKnob>& catalogue);

/// As hello's result spells them: keys "knobs" and "left_out".
void add_to(Json& hello, const KnobOffer& offer);

}  // namespace fiel
