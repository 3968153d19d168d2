// Between all nodes in 8 bits and none: which go back to float32 first, and at which numbers of them is a variant worth a try?
//
//   order   nodes by loss for the time that they take, most first: if losses add up, the first k of it are for every k the best
//           choice of nodes that take no more time than they do (the fractional knapsack, Dantzig 1957)
//   steps   1, 2, 3, 5, 8, 13, ...: close together where few nodes carry most of the loss, at most kMostSteps
//
// Losses are squared relative errors measured one node at a time, since errors that know nothing of each other add up so. A
// proxy all the same: what a step loses and gains, the gate and the clock say. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fiel {

struct NodeCost {
  std::string name;
  double loss = 0;  // alone in 8 bits
  double work = 0;  // the time that it takes, in any unit
};

/// What each node costs, in seconds where they were measured; the others at the rate at which those do their products. Products
/// where no node's time is known.
std::vector<double> work_of(std::span<const double> products, std::span<const std::optional<double>> seconds);

inline constexpr int kMostSteps = 8;

/// All nodes, those first that go back to float32 first.
std::vector<NodeCost> float_order(std::vector<NodeCost> nodes);

/// Numbers of nodes in float32, growing; empty for fewer than two nodes.
std::vector<int> ladder_steps(int nodes);

/// In which order to measure nodes that stand in the graph's order, given the noise of their rounding: in turns the first of the
/// graph, the noisiest and the last, since time may not do for all. Noise alone is a bad guess: of the five that lose most
/// on the OCR model four are among its first seven convolutions, and all between the 12th and the 38th by noise.
std::vector<std::size_t> likeliest_first(std::span<const double> noise);

/// Of the first `floats` of the order, those in 8 bits again: the one with the most work first.
std::vector<std::string> by_work(std::span<const NodeCost> order, int floats);

}  // namespace fiel
