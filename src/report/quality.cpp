#include "report/quality.h"

#include <fmt/format.h>

#include <limits>

#include "report/words.h"
#include "stats/distributions.h"

namespace fiel {
namespace {

constexpr double kAlpha = 0.05;

double speed_of(const RunView& view, const CandidateView& candidate, double unknown) {
  if (candidate.id == view.comparator) return 1.0;
  const auto shown = ratio_of(view, candidate);
  return shown ? shown->ratio : unknown;
}

const CandidateView* best_of(const RunView& view) {
  const CandidateView* best = nullptr;
  for (const auto& [id, candidate] : view.candidates) {
    if (candidate.status != "admissible") continue;
    if (best == nullptr || speed_of(view, candidate, 0) > speed_of(view, *best, 0)) best = &candidate;
  }
  return best;
}

// Whoever was not found wanting may be better; of a duplicate its twin tells.
bool may_be_better(const RunView& view, const CandidateView* candidate, const CandidateView* best) {
  if (candidate != nullptr && candidate->same_as) candidate = view.find(candidate->same_as);
  if (candidate == nullptr || candidate == best) return false;
  if (candidate->status == "inadmissible" || candidate->status == "failed") return false;
  if (best == nullptr) return true;
  return !(speed_of(view, *candidate, std::numeric_limits<double>::infinity()) <= speed_of(view, *best, 0));
}

std::string share_words(double share) { return fmt::format("{:.2g} %", 100 * share); }

std::string sentence_of(const RunView& view, const QualityStatement& quality) {
  const SearchView& search = *view.search;
  const std::string better = quality.best ? fmt::format("admissible and faster than #{}", *quality.best) : "admissible";
  if (search.all_tried) {
    return fmt::format("all {:.4g} routes of this space were tried: what is not among its knobs and values, nobody has looked at.", search.space_size);
  }
  if (!quality.left_at_most) {
    return fmt::format("nothing can be said of the routes that were not tried, of {:.4g}: the strategy {} drew none of them uniformly.",
                       search.space_size, search.strategy);
  }
  std::string text = fmt::format("at most {} of the {:.4g} routes of this space are {}, with {:.0f} % confidence: ", share_words(*quality.left_at_most),
                                 search.space_size, better, 100 * quality.confidence);
  text += quality.may_be_better == 0
              ? fmt::format("none of {} that were drawn uniformly is.", quality.draws)
              : fmt::format("of {} that were drawn uniformly, {} may be (not judged in full).", quality.draws, quality.may_be_better);
  text += " That is by first sight, and says nothing of how much faster.";
  if (search.draws_put_off > 0) {
    text += fmt::format(" {} more draws were put off, as stand-ins for a variant that serves: nothing is said of such routes.", search.draws_put_off);
  }
  return text;
}

}  // namespace

std::optional<QualityStatement> quality_statement(const RunView& view) {
  if (!view.search) return std::nullopt;
  QualityStatement quality;
  const CandidateView* best = best_of(view);
  if (best != nullptr) quality.best = best->id;
  for (const int id : view.search->uniform_draws) {
    ++quality.draws;
    if (may_be_better(view, view.find(id), best)) ++quality.may_be_better;
  }
  if (view.search->all_tried) {
    quality.left_at_most = 0.0;
  } else if (quality.draws > 0) {
    quality.left_at_most = stats::clopper_pearson_upper(static_cast<double>(quality.may_be_better), static_cast<double>(quality.draws), kAlpha);
  }
  quality.confidence = 1 - kAlpha;
  quality.sentence = sentence_of(view, quality);
  return quality;
}

}  // namespace fiel
