#include "decide/judge_full.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "decide/places.h"
#include "journal/record.h"

namespace fiel {
namespace {

constexpr std::array<std::size_t, 3> kRungs = {64, 256, 1024};

std::filesystem::path reference_file(const Lab& lab) { return lab.folder / "reference" / "tuning.pack"; }

// All of the tuning set, in chunks that end at the rungs.
Result<std::optional<Failure>> infer_tuning(Lab& lab, Live& live, const TakeChunk& take) {
  const SampleSet& set = lab.tuning.get();
  return infer_set(lab, live, set, stratified_order(set, sub_seed(lab.seed, "rungs")), kRungs, take);
}

GateRecord record_from(const Json& body) {
  GateRecord record;
  for (const auto& [index, bits] : object_or_empty(body, "output_bits").items()) {
    record.output_bits[std::stoi(index)] = bits.get<std::string>();
  }
  for (const auto& [task, scores] : object_or_empty(body, "scores").items()) {
    for (const auto& [index, score] : scores.items()) record.scores[task][std::stoi(index)] = score.get<double>();
  }
  return record;
}

Json scores_json(const Scores& scores) {
  Json json = Json::object();
  for (const auto& [task, by_index] : scores) {
    for (const auto& [index, score] : by_index) json[task][fmt::format("{}", index)] = score;
  }
  return json;
}

Json bits_json(const std::map<int, std::string>& bits) {
  Json json = Json::object();
  for (const auto& [index, name] : bits) json[fmt::format("{}", index)] = name;
  return json;
}

Result<Record> judge_in_fresh_process(Lab& lab, int id) {
  Json body = {{"id", id}};
  const double started_at = lab.recorder.live_seconds();
  const auto finish = [&](CandidateStatus status, const std::string& reason) {
    set_outcome(body, status, reason);
    body["seconds"] = lab.recorder.live_seconds() - started_at;
    return Record{.body = std::move(body)};
  };
  auto started = start_live(lab, id);
  if (const auto* failure = std::get_if<Failure>(&started)) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    body["failure"] = failure_json(*failure);
    return finish(status_of(*failure), failure->message);
  }
  Live& live = std::get<Live>(started);
  Judge judge(lab.contract, lab.tuning.get(), *lab.reference, lab.folder / "scratch", lab.cancel_fd);
  std::optional<GateResult> verdict;
  const auto failure = FIEL_TRY(infer_tuning(lab, live, [&](auto outputs, Last last) -> Result<bool> {
    FIEL_TRY(judge.add(outputs));
    verdict = last == Last::kYes ? judge.judge_tuning() : judge.reject_early();
    return !verdict.has_value();
  }));
  if (failure) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    body["failure"] = failure_json(*failure);
    return finish(status_of(*failure), failure->message);
  }
  const std::int64_t peak = live.worker->usage().peak_memory_bytes;
  body["peak_memory_bytes"] = peak;
  body["effective"] = effective_json(live.loaded.effective);
  body["inputs"] = ports_json(live.loaded.inputs);
  body["outputs"] = ports_json(live.loaded.outputs);
  say_bye(*live.worker);
  body["gate"] = to_json(*verdict);
  if (verdict->margin_left) body["margin_left"] = *verdict->margin_left;
  if (verdict->margin_to_spare) body["margin_to_spare"] = *verdict->margin_to_spare;
  body["scores"] = scores_json(judge.scores());
  body["output_bits"] = bits_json(judge.output_bits());
  if (verdict->status == GateStatus::kAdmissible) {
    const CandidateState& state = lab.standing.at(id);
    if (const std::string over = memory_over_limit(lab, peak); !over.empty()) {
      return finish(CandidateStatus::kOverLimit, over);
    }
    // The reference is judged even where its build is over a limit, and stays so.
    if (state.status == CandidateStatus::kOverLimit) return finish(state.status, state.reason);
  }
  return finish(status_of(*verdict), verdict->message);
}

Result<> fill_reference(Lab& lab, int id) {
  const auto file = reference_file(lab);
  lab.reference = FIEL_TRY(ReferenceStore::create(lab.contract, lab.tuning.get(), file, lab.folder / "scratch",
                                                  lab.cancel_fd));
  auto started = start_live(lab, id);
  std::optional<Failure> failure;
  if (auto* start_failure = std::get_if<Failure>(&started)) {
    failure = std::move(*start_failure);
  } else {
    failure = FIEL_TRY(infer_tuning(lab, std::get<Live>(started), [&](auto outputs, Last) -> Result<bool> {
      FIEL_TRY(lab.reference->add(outputs));
      return true;
    }));
  }
  if (failure) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    return fail(ErrorKind::kContract,
                fmt::format("the reference (candidate {}, {}) can't run: {}", id, to_string(lab.standing.at(id).route),
                            failure->message),
                "without a reference nothing can be judged; try the model in the engine by itself, or name another "
                "engine first in [target] engines\n" + failure->log_tail);
  }
  return lab.reference->finish();
}

}  // namespace

Result<> make_reference(Lab& lab, int id) {
  const Json body = FIEL_TRY(once_on_one_machine(lab, "reference", "reference", [&]() -> Result<Record> {
    const double started_at = lab.recorder.live_seconds();
    FIEL_TRY(fill_reference(lab, id));
    return Record{.body = {{"id", id},
                           {"scores", lab.reference->mean_scores()},
                           {"mistrusted", lab.reference->mistrusted()},
                           {"seconds", lab.recorder.live_seconds() - started_at}}};
  }));
  if (lab.reference) return {};
  auto store = ReferenceStore::open(lab.contract, lab.tuning.get(), reference_file(lab));
  if (store) {
    lab.reference = std::move(*store);
    return {};
  }
  // The outputs are bulk data that may have been deleted; the same artifact makes them again.
  return fill_reference(lab, id);
}

Result<> judge_on_tuning(Lab& lab, int id) {
  const Json body = FIEL_TRY(once_on_one_machine(lab, fmt::format("candidate/{}/gate", id), "gate",
                                               [&] { return judge_in_fresh_process(lab, id); }));
  lab.gate_records[id] = record_from(body);
  return {};
}

void judge_ahead(Lab& lab, int id, Ahead& ahead) {
  ahead.begin(fmt::format("candidate/{}/gate", id), [&lab, id] { return judge_in_fresh_process(lab, id); });
}

void recall_faith(Lab& lab, int id, const Json& entry) {
  const auto faith = entry.find("faith");
  if (faith == entry.end()) return;
  for (const Json& look : *faith) {
    FaithTally& tally = lab.faith[id];
    tally.probed += look.value("probed", std::int64_t{0});
    tally.changed += look.value("changed", std::int64_t{0});
    for (const auto& [task, lost] : object_or_empty(look, "lost").items()) {
      tally.score_lost[task] += lost.value("sum", 0.0);
      tally.losses[task] += lost.value("count", std::int64_t{0});
    }
  }
}

namespace {

struct Loss {
  double sum = 0;
  std::int64_t count = 0;
};

Loss loss_against_gate(const TaskRule& task, const Scores& gate, const Scores& now) {
  Loss loss;
  const auto old_scores = gate.find(task.name);
  const auto new_scores = now.find(task.name);
  if (old_scores == gate.end() || new_scores == now.end()) return loss;
  for (const auto& [index, score] : new_scores->second) {
    const auto old = old_scores->second.find(index);
    if (old == old_scores->second.end()) continue;
    const double drop = task.lower_is_better ? score - old->second : old->second - score;
    loss.sum += drop;
    loss.count += drop > 0 ? 1 : 0;
  }
  return loss;
}

// The margin in score units; a contract with a floor only is held to no loss beyond single samples.
double margin_of(const Lab& lab, const TaskRule& task) {
  if (task.margin.max_drop) return *task.margin.max_drop;
  if (task.margin.max_drop_relative) {
    return *task.margin.max_drop_relative * std::abs(lab.reference->mean_scores().at(task.name));
  }
  return 0;
}

}  // namespace

Result<std::optional<Unfaithful>> check_faith(Lab& lab, int id, std::span<const SampleOutputs> outputs, Json& entry) {
  // A yardstick that is not admissible lends its time only; its answers were found wanting already.
  if (!in_the_race(lab.standing.at(id).status)) return std::optional<Unfaithful>();
  const GateRecord& gate = lab.gate_records.at(id);
  std::vector<SampleOutputs> changed;
  for (const SampleOutputs& sample : outputs) {
    const auto known = gate.output_bits.find(sample.index);
    const bool is_same = known != gate.output_bits.end() &&
                         name_of_bits(lab.reference->views(sample.index), sample) == known->second;
    if (!is_same) changed.push_back(sample);
  }
  Json look = {{"probed", outputs.size()}, {"changed", changed.size()}};
  std::optional<Unfaithful> unfaithful;
  if (!changed.empty()) {
    Judge judge(lab.contract, lab.tuning.get(), *lab.reference, lab.folder / "scratch", lab.cancel_fd);
    // The same sample may have been timed in several rounds: each is one look.
    for (const SampleOutputs& sample : changed) FIEL_TRY(judge.add(std::span(&sample, 1)));
    const auto hard = judge.reject_early();
    if (hard) unfaithful = Unfaithful{status_of(*hard), "after its judgement: " + hard->message};
    for (const TaskRule& task : lab.contract.accuracy.tasks) {
      const Loss loss = loss_against_gate(task, gate.scores, judge.scores());
      look["lost"][task.name] = {{"sum", loss.sum}, {"count", loss.count}};
    }
  }
  entry["faith"].push_back(look);
  recall_faith(lab, id, {{"faith", Json::array({look})}});
  const FaithTally& tally = lab.faith[id];
  for (const TaskRule& task : lab.contract.accuracy.tasks) {
    const auto lost = tally.score_lost.find(task.name);
    if (unfaithful || lost == tally.score_lost.end()) continue;
    const double mean_lost = lost->second / static_cast<double>(tally.probed);
    // One sample on the edge may flip where bits are not repeatable; two and more than the margin is another model.
    if (tally.losses.at(task.name) >= 2 && !(mean_lost <= margin_of(lab, task))) {
      unfaithful = Unfaithful{CandidateStatus::kUnstable,
                              fmt::format("later processes answer differently from the judged one: {} lost {:.4g} on {} "
                                          "probed samples ({} with other bits)",
                                          task.name, mean_lost, tally.probed, tally.changed)};
    }
  }
  return unfaithful;
}

Result<std::optional<Unfaithful>> probe_faith(Lab& lab, Live& live, std::span<const int> samples, Json& entry) {
  std::vector<int> distinct(samples.begin(), samples.end());
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  auto outputs = infer_chunk(live, lab.tuning.get(), distinct, deadlines_for(lab.contract));
  if (const auto* failure = std::get_if<Failure>(&outputs)) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    entry["failure"] = failure_json(*failure);
    return std::optional(Unfaithful{status_of(*failure), failure->message});
  }
  return check_faith(lab, live.id, std::get<std::vector<SampleOutputs>>(outputs), entry);
}

}  // namespace fiel
