#include "decide/holdout_pass.h"

#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "journal/record.h"

namespace fiel {

Result<std::optional<Failure>> infer_holdout(Lab& lab, Live& live, const SampleSet& set, const Take& take) {
  return infer_set(lab, live, set, stratified_order(set, sub_seed(lab.seed, "holdout")), {},
                   [&](auto outputs, Last) -> Result<bool> {
                     FIEL_TRY(take(outputs));
                     return true;
                   });
}

Result<std::optional<Failure>> infer_holdout_afresh(Lab& lab, int id, const SampleSet& set, const Take& take) {
  auto started = start_live(lab, id);
  if (auto* failure = std::get_if<Failure>(&started)) return std::optional(std::move(*failure));
  Live& live = std::get<Live>(started);
  auto failure = FIEL_TRY(infer_holdout(lab, live, set, take));
  if (!failure) say_bye(*live.worker);
  return failure;
}

Result<ReferenceStore> holdout_reference(Lab& lab, const SampleSet& set) {
  const auto file = lab.folder / "reference" / "holdout.pack";
  if (lab.recorder.recorded("holdout/reference")) {
    auto store = ReferenceStore::open(lab.contract, set, file);
    if (store) return store;
  }
  auto store = FIEL_TRY(ReferenceStore::create(lab.contract, set, file, lab.folder / "scratch", lab.cancel_fd));
  const auto failure = FIEL_TRY(infer_holdout_afresh(lab, *lab.standing.reference, set,
                                                     [&](auto outputs) { return store.add(outputs); }));
  if (failure) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    return fail(ErrorKind::kDied, "the reference failed on the hold-out: " + failure->message,
                "`fiel resume` tries again; the opening is spent but nothing was seen");
  }
  FIEL_TRY(store.finish());
  FIEL_TRY(lab.recorder.once("holdout/reference", "holdout_reference", [&]() -> Result<Record> {
    return Record{.body = {{"scores", store.mean_scores()}}};
  }));
  return store;
}

Result<Outcome<GateResult>> judge_regression(Lab& lab, const RegressionSet& holdout, int id) {
  const SampleSet& set = holdout.get();
  const ReferenceStore reference = FIEL_TRY(holdout_reference(lab, set));
  Judge judge(lab.contract, set, reference, lab.folder / "scratch", lab.cancel_fd);
  auto failure = FIEL_TRY(infer_holdout_afresh(lab, id, set, [&](auto outputs) { return judge.add(outputs); }));
  if (failure) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    return Outcome<GateResult>(std::move(*failure));
  }
  return Outcome<GateResult>(judge.judge_tuning());
}

}  // namespace fiel
