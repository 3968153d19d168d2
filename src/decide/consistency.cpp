#include "decide/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "decide/places.h"
#include "journal/record.h"

namespace fiel {
namespace {

constexpr int kSamplesOfAShape = 32;

// The first ones of each declared shape, in a seeded order that sees every slice.
std::vector<int> samples_of_every_shape(const Lab& lab) {
  const SampleSet& set = lab.tuning.get();
  const auto order = stratified_order(set, sub_seed(lab.seed, "consistency"));
  std::vector<int> chosen;
  for (const TrafficShape& shape : lab.shapes) {
    int taken = 0;
    for (const int index : order) {
      if (taken == kSamplesOfAShape) break;
      if (!is_of_shape(lab.contract, set.samples[static_cast<std::size_t>(index)], shape)) continue;
      chosen.push_back(index);
      ++taken;
    }
  }
  if (!chosen.empty()) return chosen;
  return {order.begin(), order.begin() + std::min<std::ptrdiff_t>(kSamplesOfAShape, std::ssize(order))};
}

// How far an output moved, over all samples of a pass.
struct Spread {
  std::int64_t changed_samples = 0;
  double max_abs = 0, max_rel = 0;
};

struct Pass {
  const char* what;         // "asked again"
  std::vector<int> order;
};

// A rule's tolerance that lies below the candidate's own spread, in words; empty: none does.
std::string below_own_spread(const Lab& lab, const std::string& output, const TensorView& first, const TensorView& now) {
  for (const TensorRule& rule : lab.contract.accuracy.tensors) {
    if (rule.output != output) continue;
    const TensorComparison compared = compare_tensor(first, now, &rule);
    if (compared.status == TensorStatus::kRejected) return compared.message;
  }
  return {};
}

std::string compare_pass(const Lab& lab, const std::map<int, SampleOutputs>& first, std::span<const SampleOutputs> now,
                         std::map<std::string, Spread>& spreads) {
  std::string fault;
  for (const SampleOutputs& sample : now) {
    const OutputViews before = views_of(first.at(sample.index));
    if (has_bits_of(before, sample)) continue;
    const OutputViews after = views_of(sample);
    if (const auto other = find_output_fault(before, after)) return other->message;
    for (const auto& [output, view] : before) {
      const TensorComparison compared = compare_tensor(view, after.at(output), nullptr);
      Spread& spread = spreads[output];
      ++spread.changed_samples;
      spread.max_abs = std::max(spread.max_abs, compared.errors.max_abs);
      spread.max_rel = std::max(spread.max_rel, compared.errors.max_rel);
      const std::string broken = below_own_spread(lab, output, view, after.at(output));
      if (broken.empty() || !fault.empty()) continue;
      fault = fmt::format("output {} of sample {} differs from its own first answer: {}", output,
                          lab.tuning.get().samples[static_cast<std::size_t>(sample.index)].id, broken);
    }
  }
  return fault;
}

Json spreads_json(const std::map<std::string, Spread>& spreads) {
  Json json = Json::object();
  for (const auto& [output, spread] : spreads) {
    json[output] = {{"changed_samples", spread.changed_samples}, {"max_abs", spread.max_abs}, {"max_rel", spread.max_rel}};
  }
  return json;
}

Result<Record> ask_again(Lab& lab, int id) {
  Json body = {{"id", id}};
  const auto finish = [&](CandidateStatus status, const std::string& reason) {
    set_outcome(body, status, reason);
    return Record{.body = std::move(body)};
  };
  auto started = start_live(lab, id);
  if (const auto* failure = std::get_if<Failure>(&started)) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    set_outcome(body, *failure);
    return Record{.body = std::move(body)};
  }
  Live& live = std::get<Live>(started);
  const std::vector<int> order = samples_of_every_shape(lab);
  std::vector<int> moved(order.rbegin(), order.rend());
  // Reversed, everybody has other neighbours but, in batches of two, the same ones: one place further, they have not.
  std::ranges::rotate(moved, moved.begin() + (moved.size() > 1 ? 1 : 0));
  std::map<int, SampleOutputs> first;
  body["samples"] = order.size();
  for (const Pass& pass : {Pass{"at first", order}, Pass{"asked again", order}, Pass{"in another place", moved}}) {
    std::map<std::string, Spread> spreads;
    std::string fault;
    std::optional<Unfaithful> unfaithful;
    const auto failure = FIEL_TRY(infer_set(lab, live, lab.tuning.get(), pass.order, {},
                                            [&](std::span<const SampleOutputs> outputs, Last) -> Result<bool> {
      if (first.size() < order.size()) {
        for (const SampleOutputs& sample : outputs) first[sample.index] = sample;
      } else if (fault.empty()) {
        fault = compare_pass(lab, first, outputs, spreads);
      }
      unfaithful = FIEL_TRY(check_faith(lab, id, outputs, body));
      return !unfaithful && fault.empty();
    }));
    if (failure) {
      FIEL_TRY(stop_if_not_its_fault(lab, *failure));
      set_outcome(body, *failure);
      return Record{.body = std::move(body)};
    }
    body["spread"][pass.what] = spreads_json(spreads);
    if (!fault.empty()) return finish(CandidateStatus::kUnstable, fmt::format("{}: {}", pass.what, fault));
    if (unfaithful) {
      // Whatever is wrong with an answer that was right before, it is not stable; only NaN has a name of its own.
      const bool non_finite = unfaithful->status == CandidateStatus::kNonFinite;
      return finish(non_finite ? unfaithful->status : CandidateStatus::kUnstable,
                    fmt::format("{}: {}", pass.what, unfaithful->reason));
    }
  }
  say_bye(*live.worker);
  return finish(lab.standing.at(id).status, lab.standing.at(id).reason);
}

}  // namespace

std::int64_t consistency_inferences(const Lab& lab) { return 3 * std::ssize(samples_of_every_shape(lab)); }

Result<> check_consistency(Lab& lab, int id) {
  const std::string key = fmt::format("candidate/{}/consistency", id);
  const bool known = lab.recorder.recorded(key);
  const Json body = FIEL_TRY(once_on_one_machine(lab, key, "consistency", [&] { return ask_again(lab, id); }));
  if (known) recall_faith(lab, id, body);
  return {};
}

}  // namespace fiel
