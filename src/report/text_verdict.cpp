#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/candidates.h"
#include "report/fields.h"
#include "report/sentences.h"
#include "report/text_parts.h"
#include "report/words.h"

namespace fiel {
namespace {

Paint paint_of(std::string_view verdict) {
  if (verdict == "improved") return Paint::kGood;
  if (verdict == "undecided" || verdict.empty()) return Paint::kDoubtful;
  if (verdict == "infeasible") return Paint::kBad;
  return Paint::kStrong;  // not improved; and what a newer minor version may say
}

std::string memory_words(const std::optional<std::int64_t>& bytes) { return bytes ? format_bytes(*bytes) : "-"; }

}  // namespace

void say_verdict(Page& page, const RunView& view) {
  page.paragraph("", fmt::format("{}: {}", verdict_word(view), verdict_sentence(view)), paint_of(view.verdict));
  if (view.verdict.empty()) {
    page.paragraph("", "If it is not running now, go on with:");
    page.command(2, fmt::format("fiel resume {}", typed_path(view.folder)));
  }
  for (const std::string& missing : view.missing) page.paragraph("missing", missing);
  if (const std::string more = verdict_remark(view); !more.empty()) page.paragraph("", more);
}

void say_flags(Page& page, const RunView& view) {
  if (const std::string warning = baseline_warning(view); !warning.empty()) {
    page.paragraph("", "warning: " + warning, Paint::kBad);
  }
}

void say_what_ships(Page& page, const RunView& view) {
  const CandidateView* ships = view.find(view.ships);
  if (ships == nullptr) return;
  page.paragraph("ships", fmt::format("#{}  {}", ships->id, ships->route));
  page.paragraph(" ", fmt::format("artifact {} ({}), peak memory {}", cut(ships->artifact, kDigestShown),
                                  memory_words(ships->artifact_bytes), memory_words(ships->peak_memory_bytes)));
  if (ships->latency) {
    page.paragraph(" ", fmt::format("latency{} {}", view.scenario == "offline" ? " of a batch" : "", latency_words(*ships->latency)));
  }
  page.command(0, fmt::format("{:<{}}fiel export {}", "bundle", kLabelWidth, typed_path(view.folder)));
}

void say_proof(Page& page, const RunView& view) {
  for (const NomineeView& nominee : view.nominees) {
    page.paragraph(nominee.turn == 1 ? "proof" : " ",
                   fmt::format("nominee {}, #{}: {}", nominee.turn, nominee.id, outcome_words(nominee)));
    const CandidateView* candidate = view.find(nominee.id);
    const Json gate = candidate != nullptr ? fields::parsed(candidate->gate_holdout_json) : Json();
    for (const Json& task : fields::member(gate, "tasks")) page.paragraph(" ", "  " + task_words(task), Paint::kDim);
  }
}

void say_break_even(Page& page, const RunView& view) {
  if (view.break_even) page.paragraph("pays off", break_even_words(view));
}

namespace {

// Only what is not as it should be.
void say_confinement(Page& page, const Json& confinement) {
  std::vector<std::string> lines = fields::texts(confinement, "missing");
  for (const std::string& engine : fields::texts(confinement, "unconfined_engines")) {
    lines.push_back(fmt::format("{}: may do whatever you may (confine = false)", engine));
  }
  if (!lines.empty()) page.paragraph("not confined", fmt::format("{}", fmt::join(lines, "; ")));
}

}  // namespace

void say_bounds(Page& page, const RunView& view) {
  if (view.run_json.empty()) return;
  page.paragraph("measured on", measured_on_words(view));
  say_confinement(page, fields::member(fields::parsed(view.run_json), "confinement"));
  page.paragraph("for", measured_for_words(view));
}

}  // namespace fiel
