#include "cli/task_line.h"

#include <fmt/format.h>

namespace fiel {

std::string task_line(const TaskVerdict& task) {
  std::string allowed = task.margin ? fmt::format(" of {:.4f} allowed", *task.margin) : "";
  if (task.min_score) allowed += fmt::format(", bound of the score itself {:.4f}", *task.min_score);
  return fmt::format("{:<20} {:<14} {:.4f} (reference {:.4f}), drop {:+.4f}{}, n = {}", task.task,
                     task.slice.empty() ? "overall" : task.slice, task.candidate_score, task.reference_score, task.drop, allowed,
                     task.n);
}

}  // namespace fiel
