// Checks of a finalist that need no reference: asked the same again, it must answer the same; and a sample's answer must
// not depend on its place in the batch or on what stands beside or before it.
//
// Other bits are allowed where the contract allows for them: what differs is held against the tensor rules (a tolerance
// below a candidate's own spread proves nothing), and the scores against the margins.
#pragma once

#include "decide/judge_full.h"

namespace fiel {

/// Runs (or recalls) both checks of candidate `id` in a fresh process, on tuning samples of every declared shape; what they
/// find wrong becomes its status, kUnstable.
Result<> check_consistency(Lab& lab, int id);

/// How many inferences check_consistency asks for.
std::int64_t consistency_inferences(const Lab& lab);

}  // namespace fiel
