#include "report/text.h"

#include "report/text_parts.h"

namespace fiel {

std::string format_text(const RunView& view, const TextOptions& options) {
  Page page(options.width, options.color ? Colour::kOn : Colour::kOff);
  const Detail detail = options.all ? Detail::kAll : Detail::kBest;
  say_verdict(page, view);
  say_flags(page, view);
  page.blank();
  say_what_ships(page, view);
  say_proof(page, view);
  say_break_even(page, view);
  say_bounds(page, view);
  say_machines(page, view);
  say_candidates(page, view, detail);
  say_pareto(page, view);
  say_nearest_misses(page, view);
  say_left_out(page, view, detail);
  if (options.all) say_what_mattered(page, view);
  say_quality(page, view);
  say_time(page, view);
  return page.take();
}

}  // namespace fiel
