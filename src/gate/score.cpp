#include "gate/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "gate/argmax.h"

namespace fiel {
namespace {

constexpr std::int64_t kTopFive = 5;

std::unexpected<Error> unfit(const TaskRule& task, const ScoreItem& item, std::string_view what,
                             std::string hint) {
  return fail(ErrorKind::kContract,
              fmt::format("task {} cannot score sample {}: {}", task.name, item.sample->id, what),
              std::move(hint));
}

std::string describe(std::string_view name, const TensorView& tensor) {
  return fmt::format("output {} is {} {}", name, to_string(tensor.dtype), to_string(tensor.shape));
}

// All numbers in a label; blanks, commas and semicolons part them.
std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  constexpr std::string_view kBetween = " \t,;";
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
       at = text.find_first_not_of(kBetween, at)) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, number);
    if (error != std::errc() || rest != text.data() + end || !std::isfinite(number)) {
      return std::nullopt;
    }
    numbers.push_back(number);
    at = end;
  }
  return numbers;
}

Result<std::int64_t> class_label(const TaskRule& task, const ScoreItem& item) {
  const auto numbers = parse_numbers(item.sample->label);
  if (!numbers || numbers->size() != 1 || !(numbers->front() >= 0 && numbers->front() < 0x1p53) ||
      numbers->front() != std::floor(numbers->front())) {
    return unfit(task, item, fmt::format("its label \"{}\" is no class number", item.sample->label),
                 "labels.csv must give each sample the number of its class, counted from 0");
  }
  return static_cast<std::int64_t>(numbers->front());
}

struct Read {  // what an evaluator of one output works on
  const TaskRule& task;
  const ScoreItem& item;
  std::string name;
  TensorView tensor;
  std::int64_t count;
};

// The class that ranks where the label does; `places` is 1 or 5.
Result<double> score_top(const Read& read, std::int64_t places) {
  const std::int64_t label = FIEL_TRY(class_label(read.task, read.item));
  if (places == 1 && read.count == 1 && !is_floating(read.tensor.dtype)) {
    return integer_element(read.tensor, 0) == label ? 1.0 : 0.0;
  }
  const std::int64_t classes = read.tensor.shape.empty() ? 1 : read.tensor.shape.back();
  if (read.count != classes || classes < 2) {
    return unfit(read.task, read.item,
                 describe(read.name, read.tensor) + ", not one row of class scores",
                 "name the output that holds the class scores: output = \"...\"; or use an evaluator program");
  }
  if (label >= classes) {
    return unfit(read.task, read.item,
                 fmt::format("its label is {}, but output {} has {} classes", label, read.name, classes),
                 "classes are counted from 0");
  }
  return rank_in_row(read.tensor, 0, classes, label) < places ? 1.0 : 0.0;
}

Result<double> score_binary(const Read& read, double threshold) {
  const std::int64_t label = FIEL_TRY(class_label(read.task, read.item));
  if (label > 1) {
    return unfit(read.task, read.item, fmt::format("its label is {}, not 0 or 1", label),
                 "use top1 for more than two classes");
  }
  if (read.count == 2) {
    const bool is_one = element(read.tensor, 1) > element(read.tensor, 0);
    return is_one == (label == 1) ? 1.0 : 0.0;
  }
  if (read.count != 1) {
    return unfit(read.task, read.item, describe(read.name, read.tensor) + ", not one or two values",
                 "name the output that holds the answer: output = \"...\"");
  }
  const bool is_one = element(read.tensor, 0) >= threshold;
  return is_one == (label == 1) ? 1.0 : 0.0;
}

Result<double> score_absolute_error(const Read& read) {
  const auto numbers = parse_numbers(read.item.sample->label);
  if (!numbers || numbers->empty()) {
    return unfit(read.task, read.item,
                 fmt::format("its label \"{}\" is no number", read.item.sample->label),
                 "labels.csv must give the right value, or several parted by blanks");
  }
  if (static_cast<std::int64_t>(numbers->size()) != read.count) {
    return unfit(read.task, read.item,
                 fmt::format("its label has {} numbers, but {}", numbers->size(),
                             describe(read.name, read.tensor)),
                 "give as many numbers as the output has elements");
  }
  double sum = 0;
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    sum += std::abs(element(read.tensor, static_cast<std::int64_t>(i)) - (*numbers)[i]);
  }
  return sum / static_cast<double>(read.count);
}

Result<double> score_embedding(const Read& read) {
  const auto reference = read.item.reference->find(read.name);
  FIEL_CHECK(reference != read.item.reference->end());
  TensorRule rule;
  rule.metric = TensorMetric::kCosine;
  rule.non_finite = NonFinite::kWhereReferenceIs;  // whether that is allowed was decided before
  const auto compared = compare_tensor(reference->second, read.tensor, &rule);
  const bool is_reference = read.item.reference == read.item.outputs;
  if (is_reference && !compared.errors.cosine) {
    return unfit(read.task, read.item,
                 fmt::format("the reference's output {} is all zeros, so it has no direction", read.name),
                 "drop the sample, or use another evaluator");
  }
  return compared.errors.cosine.value_or(0.0);
}

// Does a place-by-place argmax say anything about this tensor?
bool has_classes(const TensorView& tensor) {
  return !is_floating(tensor.dtype) || (!tensor.shape.empty() && tensor.shape.back() >= 2);
}

bool agrees(const TensorView& reference, const TensorView& candidate) {
  if (is_floating(reference.dtype)) return argmax_rows(reference) == argmax_rows(candidate);
  const auto compared = compare_tensor(reference, candidate, nullptr);
  return compared.status == TensorStatus::kPassed;
}

Result<double> score_agreement(const TaskRule& task, const ScoreItem& item,
                               const std::optional<std::string>& name) {
  bool any = false;
  bool all = true;
  for (const auto& [output, tensor] : *item.outputs) {
    if (name && output != *name) continue;
    const auto reference = item.reference->find(output);
    FIEL_CHECK(reference != item.reference->end());
    if (!has_classes(reference->second)) continue;
    any = true;
    all = all && agrees(reference->second, tensor);
  }
  if (!any) {
    return unfit(task, item, "no output has two or more values along its last axis, so an argmax says nothing",
                 "agreement is for class scores; give labels and use absolute_error or binary, or use an evaluator program");
  }
  return all ? 1.0 : 0.0;
}

Result<double> score_one(const TaskRule& task, const ScoreItem& item, const ScoreOptions& options) {
  const auto name = FIEL_TRY(output_of(task, *item.outputs));
  if (task.builtin == BuiltinEvaluator::kAgreement) return score_agreement(task, item, name);
  FIEL_CHECK(name.has_value());
  const TensorView& tensor = item.outputs->at(*name);
  const Read read{task, item, *name, tensor, element_count(tensor.shape).value_or(0)};
  switch (*task.builtin) {
    case BuiltinEvaluator::kTop1: return score_top(read, 1);
    case BuiltinEvaluator::kTop5: return score_top(read, kTopFive);
    case BuiltinEvaluator::kBinary: return score_binary(read, options.binary_threshold);
    case BuiltinEvaluator::kAbsoluteError: return score_absolute_error(read);
    case BuiltinEvaluator::kEmbeddingCosine: return score_embedding(read);
    case BuiltinEvaluator::kAgreement: break;
  }
  FIEL_CHECK(false);
  return 0.0;
}

}  // namespace

double binary_threshold(const TensorTraits& reference) {
  return reference.min >= 0 && reference.max <= 1 ? 0.5 : 0.0;
}

Result<std::optional<std::string>> output_of(const TaskRule& task, const OutputViews& outputs) {
  const std::string hint = "the outputs are " + names_of(outputs);
  if (!task.output.empty()) {
    if (outputs.contains(task.output)) return std::optional(task.output);
    return fail(ErrorKind::kContract,
                fmt::format("task {} reads output {}, which the model does not have", task.name,
                            task.output),
                hint);
  }
  if (outputs.size() == 1) return std::optional(outputs.begin()->first);
  if (task.builtin == BuiltinEvaluator::kAgreement && !outputs.empty()) return std::optional<std::string>();
  return fail(ErrorKind::kContract,
              fmt::format("task {} does not say which of {} outputs it reads", task.name,
                          outputs.size()),
              "add output = \"...\" to the task; " + hint);
}

Result<std::vector<double>> score_builtin(const TaskRule& task, std::span<const ScoreItem> items,
                                          const ScoreOptions& options) {
  FIEL_CHECK(task.builtin.has_value());
  std::vector<double> scores;
  scores.reserve(items.size());
  for (const ScoreItem& item : items) scores.push_back(FIEL_TRY(score_one(task, item, options)));
  return scores;
}

}  // namespace fiel
