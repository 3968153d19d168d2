// Which variants of a model are there, and how is each made? Their names are the knob's values.
//
//   int8               every region in 8 bits, ranges by the extremes seen
//   int8_whole         as int8 with what a region gives rounded, too, where no other one reads it (Results)
//   int8_but_K         all regions but the K that lose most for their time (decide/ladder.h): steps between int8 and float32
//   int8_whole_but_K   the same steps from int8_whole
//   int8_conv, int8_matmul   those of one kind, where there are both
//   int8_average, int8_p9999, int8_p999, int8_mse, int8_entropy   as int8 with other ranges: as fast, so they stand in for it
//   int8_corrected     as int8 with biases that make up for what rounding the weights adds on average (variant/bias.h)
//   int8_smooth        as int8 with large channels of products' activations moved into the weights (variant/smoothing.h)
//   int8_symmetric     as int8 with int8 activations around zero
//   dynamic_int8       products quantised as they come, where most weights are of products
//   weight_int8        weights alone
//   fp16, bf16         halves between float32 inputs and outputs
//
// The better ones come first, since searches go by that order. Knows no data: what needs ranges says so.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "variant/rewriter.h"

namespace fiel {

struct Recipe {
  enum class Kind { kStaticInt8, kDynamicInt8, kWeightInt8, kFloat16, kBFloat16 };
  std::string name;
  Kind kind = Kind::kStaticInt8;
  std::set<std::string> regions = {};  // may become 8 bit
  std::string ranges = "min_max";      // how they are chosen; static int8 only
  int floats = 0;                      // so many of the regions stay in float32, those that lose most for their time
  int again = 0;                       // of those the one with the most work, the second most, ... is in 8 bits; 0: none
  Activations activations = Activations::kUInt8;
  Results results = Results::kFloat;
  Bias bias = Bias::kAsItIs;
  Smoothing smoothing = Smoothing::kNone;
  std::string stands_in_for = {};      // a recipe that is at least as fast, so this one is for where that one is not accurate enough

  bool needs_ranges() const { return kind == Kind::kStaticInt8; }
};

std::vector<Recipe> recipes(const Rewriter& rewriter);

/// The names of a recipe and its steps to float32, most in 8 bits first; for each recipe that has such steps.
std::vector<std::vector<std::string>> ladders_of(std::span<const Recipe> recipes);

}  // namespace fiel
