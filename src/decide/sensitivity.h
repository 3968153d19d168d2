// What does each node that could run in 8 bits lose alone, and what does it cost? Asked of the first engine in float32, once a run.
#pragma once

#include <vector>

#include "decide/ladder.h"
#include "decide/lab.h"

namespace fiel {

/// Kernels of x86 CPUs without VNNI add two products of 8 bits in 16, which saturates; with weights of 7 bits it can't.
int weight_bits(const Lab& lab);

/// The nodes that have a range, those first that should go back to float32 first (decide/ladder.h). Loss: the mean square of the
/// outputs' relative errors on some tuning samples with that node alone in 8 bits; of nodes that there was no time to measure as much
/// of their rounding noise as the others lose. Work: the time that the node takes of a float32 inference, as the engine counts it;
/// where the engine does not, the products that it computes for the largest sample.
Result<std::vector<NodeCost>> nodes_by_loss(Lab& lab, const Rewriter& rewriter, const Ranges& ranges, const Json& observed);

}  // namespace fiel
