// How good is one answer? Built-in evaluators, one score per sample; programs are evaluator.h's. Knows no margins.
//
//   top1, top5          1 if the label (class number) is the largest / among the five largest of the one row of scores;
//                       an integer output of one element is a class number itself (top1)
//   binary              label 0 or 1. Two scores: the larger one decides. One value: it is a probability (1 from 0.5 on)
//                       if all of the reference's values lie in [0, 1], else a logit (1 from 0 on)
//   absolute_error      mean |output - label|; the label is a number, or as many numbers as the output has elements
//   agreement           1 if the argmax along the last axis equals the reference's at every position; integer outputs
//                       must be equal. Without `output` this holds for every output of the model
//   embedding_cosine    cosine between output and reference, flattened; 0 where one of them is all zeros
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "contract/contract.h"
#include "contract/dataset.h"
#include "gate/outputs.h"

namespace fiel {

struct ScoreItem {
  const Sample* sample;
  const OutputViews* outputs;
  const OutputViews* reference;  // the reference's own outputs of the same sample
};

struct ScoreOptions {
  double binary_threshold = 0.5;  // see binary_threshold()
};

/// Where one value turns from class 0 to class 1, from what the reference's values are like over the whole set.
double binary_threshold(const TensorTraits& reference);

/// The output that a built-in reads: the one the task names, or the only one. Nothing for agreement without a name.
Result<std::optional<std::string>> output_of(const TaskRule& task, const OutputViews& outputs);

/// One score per item. kContract, naming task and sample: a label that is missing or no number, an output that the
/// evaluator cannot read.
Result<std::vector<double>> score_builtin(const TaskRule& task, std::span<const ScoreItem> items,
                                          const ScoreOptions& options);

}  // namespace fiel
