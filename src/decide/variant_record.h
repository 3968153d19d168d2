// A variant that was made, in the journal: its file must come out the same whenever a run makes it again.
#pragma once

#include <string>

#include "base/json.h"
#include "decide/lab.h"

namespace fiel {

std::string variant_key(const std::string& name);

/// Records variant and digest once a run, and `more` about them. kCorrupt where it was recorded with another digest.
Result<> record_variant(Lab& lab, const std::string& name, const std::string& digest, Json more);

/// Why a variant is not there.
Failure variant_failure(FailureKind kind, std::string message, std::string log_tail = {});

}  // namespace fiel
