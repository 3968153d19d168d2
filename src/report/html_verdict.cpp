// The head of the page: what to ship, and how sure we are.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/fields.h"
#include "report/html_parts.h"
#include "report/sentences.h"
#include "report/words.h"

namespace fiel {
namespace {

Html code(std::string_view text) { return Html().element("code", text); }

void add_what_ships(Html& html, const RunView& view) {
  const CandidateView* ships = view.find(view.ships);
  if (ships == nullptr) return;
  Html what = candidate_link(ships->id);
  what.text(" ").element("code", ships->route);
  add_fact(html, "Ships", what);
  if (ships->latency) add_fact(html, view.scenario == "offline" ? "Latency of a batch" : "Latency", latency_words(*ships->latency));
  if (ships->artifact_bytes || ships->peak_memory_bytes) {
    add_fact(html, "Size",
             fmt::format("artifact {}, peak memory {}", ships->artifact_bytes ? format_bytes(*ships->artifact_bytes) : "–",
                         ships->peak_memory_bytes ? format_bytes(*ships->peak_memory_bytes) : "–"));
  }
  add_fact(html, "Bundle", code(fmt::format("fiel export {}", typed_path(view.folder))));
}

// "at most 2.5 % error": the nominee's share of what the contract allows for all of them together.
std::string sure_words(const NomineeView& nominee) {
  std::string text = outcome_words(nominee);
  if (nominee.alpha > 0) text += fmt::format("; tested at {:.3g} % error", 100 * nominee.alpha);
  if (nominee.opening) text += fmt::format("; the hold-out's opening number {}", *nominee.opening);
  return text;
}

void add_proofs(Html& html, const RunView& view) {
  if (view.speedup) add_fact(html, "Speed-up", speedup_words(view));
  if (const CandidateView* winner = view.find(view.winner)) add_fact(html, "Accuracy", accuracy_words(view, *winner));
  for (const NomineeView& nominee : view.nominees) {
    if (nominee.sessions.empty() && nominee.speed.empty()) continue;
    Html how = candidate_link(nominee.id);
    how.text(": " + sure_words(nominee));
    add_fact(html, nominee.turn == 1 ? "Proof" : fmt::format("Proof of nominee {}", nominee.turn), how);
  }
}

}  // namespace

Html verdict_part(const RunView& view) {
  Html html;
  const bool going = view.verdict.empty();
  html.open("header", {{"class", "verdict " + (going ? std::string("going") : view.verdict)}});
  html.element("p", {{"class", "kicker"}}, "fiel report · " + measured_for_words(view));
  html.element("h1", verdict_word(view));
  html.element("p", {{"class", "lead"}}, capitalised(verdict_sentence(view))).line();
  if (going) {
    html.open("p").text("If it is not running now, go on with: ").add(code("fiel resume " + typed_path(view.folder))).close("p");
  }
  for (const std::string& missing : view.missing) html.element("p", "Missing: " + missing);
  if (const std::string more = verdict_remark(view); !more.empty()) html.element("p", capitalised(more));
  if (const std::string warning = baseline_warning(view); !warning.empty()) {
    html.element("p", {{"class", "warning"}, {"role", "note"}}, "Warning: " + warning);
  }
  html.open("dl", {{"class", "facts"}});
  add_what_ships(html, view);
  add_proofs(html, view);
  if (view.break_even) add_fact(html, "Pays off", break_even_words(view));
  if (!view.run_json.empty()) add_fact(html, "Measured on", measured_on_words(view));
  return html.close("dl").close("header").line();
}

}  // namespace fiel
