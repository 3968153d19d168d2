#include "tune/propose_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "decide/trial.h"
#include "gate/compare.h"
#include "gate/outputs.h"
#include "tune/anchors.h"
#include "tune/single.h"

namespace fiel {
namespace {

constexpr int kFreshProcesses = 2;
constexpr double kFactor = 10;      // above the noise that was seen: others' may be larger
constexpr double kLeastL2 = 1e-5;   // a hundred roundings of float32; the same bits everywhere are no promise for other shapes

// Of a candidate's answers on the whole tuning set, in a process of its own.
Result<std::optional<Failure>> compare_all(Lab& lab, int id, std::map<std::string, OutputNoise>& outputs) {
  auto started = start_live(lab, id);
  if (auto* failure = std::get_if<Failure>(&started)) return std::optional(std::move(*failure));
  Live& live = std::get<Live>(started);
  const SampleSet& set = lab.tuning.get();
  const auto order = stratified_order(set, lab.seed);
  return infer_set(lab, live, set, order, {}, [&](auto samples, Last) -> Result<bool> {
    for (const SampleOutputs& sample : samples) {
      const OutputViews given = views_of(sample);
      for (const auto& [name, expected] : lab.reference->views(sample.index)) {
        const auto found = given.find(name);
        if (!is_floating(expected.dtype) || found == given.end()) continue;
        const TensorErrors errors = compare_tensor(expected, found->second, nullptr).errors;
        OutputNoise& noise = outputs[name];
        noise.l2 = std::max(noise.l2, errors.l2);
        noise.max_abs = std::max(noise.max_abs, errors.max_abs);
        ++noise.compared;
        noise.same_bits += errors.max_abs == 0 ? 1 : 0;
      }
    }
    return true;
  });
}

// Up to the next 1, 2 or 5 times a power of ten.
double round_up(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (x <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

Result<> ask(Lab& lab, int id, const std::string& words, ProposedLimits& proposed) {
  const auto failure = FIEL_TRY(compare_all(lab, id, proposed.outputs));
  if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
  if (failure) {
    proposed.left_out.push_back(words + ": " + failure->message);
  } else {
    proposed.asked.push_back(words);
  }
  return {};
}

}  // namespace

Result<ProposedLimits> propose_limits(Lab& lab) {
  FIEL_TRY(meet_engines(lab));
  const BuildRoute route = FIEL_TRY(reference_route(lab));
  FIEL_TRY(prepare_reference(lab, route));
  ProposedLimits proposed;
  const int reference = FIEL_TRY(register_candidate(lab, route, {"reference"}));
  for (int number = 1; number <= kFreshProcesses; ++number) {
    FIEL_TRY(ask(lab, reference, fmt::format("{}, fresh process {}", to_string(route), number), proposed));
  }
  for (const auto& [name, engine] : lab.engines) {
    const BuildRoute other = float32_route(lab, name);
    if (other == route) continue;
    lab.progress.stage("build", to_string(other));
    const int id = FIEL_TRY(register_candidate(lab, other, {"float32"}));
    FIEL_TRY(build_candidate(lab, id));
    if (lab.standing.at(id).artifact.empty()) {
      proposed.left_out.push_back(to_string(other) + ": " + lab.standing.at(id).reason);
      continue;
    }
    FIEL_TRY(ask(lab, id, to_string(other), proposed));
  }
  return proposed;
}

std::string ProposedLimits::toml() const {
  std::string text = "# Ten times what right answers were seen to differ by (`fiel check --propose-limits`), from\n";
  for (const std::string& one : asked) text += "#   " + one + "\n";
  for (std::string one : left_out) {
    std::ranges::replace(one, '\n', ' ');
    text += "#   not from " + one + "\n";
  }
  text += "# A filter, no proof: a lower precision differs by more, and whether that may be your task says ([[accuracy.task]]).\n";
  for (const auto& [name, noise] : outputs) {
    text += fmt::format("[[accuracy.tensor]]   # {} of {} answers had the same bits; l2 up to {:.2g}, one element by up to {:.2g}\n"
                        "output = {}\nmetric = \"l2\"\nmax    = {:g}\n",
                        noise.same_bits, noise.compared, noise.l2, noise.max_abs, dump_json(Json(name)), round_up(std::max(kFactor * noise.l2, kLeastL2)));
  }
  if (outputs.empty()) text += "# no output is of a floating type: integers are compared exactly\n";
  return text;
}

}  // namespace fiel
