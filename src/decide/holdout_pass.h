// One pass of a process over a hold-out, and the reference's outputs of it. Knows neither openings nor verdicts: who may look,
// and what it means, is the caller's business (confirm.h).
#pragma once

#include <functional>
#include <span>

#include "decide/lab.h"

namespace fiel {

using Take = std::function<Result<>(std::span<const SampleOutputs>)>;

Result<std::optional<Failure>> infer_holdout(Lab& lab, Live& live, const SampleSet& set, const Take& take);
/// The same in a process of its own.
Result<std::optional<Failure>> infer_holdout_afresh(Lab& lab, int id, const SampleSet& set, const Take& take);

/// Made by the reference's artifact once, then kept.
Result<ReferenceStore> holdout_reference(Lab& lab, const SampleSet& set);

/// Point estimates on the whole set, as the tuning set is judged: a regression check, which proves nothing.
Result<Outcome<GateResult>> judge_regression(Lab& lab, const RegressionSet& holdout, int id);

}  // namespace fiel
