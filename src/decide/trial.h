// First acquaintance with a candidate: build it (once), load it in a process of its own, look at 64 outputs, and time it
// once against a partner. All of it may reject; none of it is a claim.
#pragma once

#include <functional>
#include <optional>

#include "decide/places.h"

namespace fiel {

/// Registers a route as a candidate with the next free id; a route that is known gets its old id.
Result<int> register_candidate(Lab& lab, const BuildRoute& route, const std::vector<std::string>& roles);

/// The same route once more, as a candidate of its own: what comes out of a build is known only when it was built.
Result<int> register_rebuild(Lab& lab, const BuildRoute& route, int number);

/// Build, export and identify; sets the status. A duplicate of an earlier candidate is found here.
Result<> build_candidate(Lab& lab, int id);

/// Takes an artifact that an earlier run built (a bundle's) as a candidate of its own, also where another candidate has the
/// same route. kCorrupt where its bytes are not those that `digest` names.
struct Adopted {
  std::filesystem::path artifact;
  std::string digest;
};
Result<int> adopt_candidate(Lab& lab, const BuildRoute& route, const Adopted& built);

/// An error where the reference has no artifact: then nothing can be judged. One that is only over a limit will do.
Result<> check_reference_built(const Lab& lab, int id);

/// Who a candidate is screened against: a process that stays, where the caller's thread has its machine.
using PartnerHere = std::function<Result<Live*>()>;

/// Loads, probes 64 stratified tuning samples and, with a partner, screens. None: no comparator yet.
Result<> probe_candidate(Lab& lab, int id, const PartnerHere& partner);

/// By one of the crew, for a candidate that will have this id and whose turn has not come: what build_candidate and
/// probe_candidate then find in lab.made_ahead. `model` is the route's (model_of).
struct TriedAhead {
  Attempts built = {}, probed = {};
};
Crew::End try_ahead(Lab& lab, int id, const BuildRoute& route, const Outcome<std::filesystem::path>& model,
                    const PartnerHere& partner, TriedAhead& tried);

/// The route that pins strict float32 for an engine.
BuildRoute float32_route(const Lab& lab, const std::string& engine);

}  // namespace fiel
