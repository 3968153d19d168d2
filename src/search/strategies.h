// The strategies' makers, one file each. Each keeps a copy of the space.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>

#include "search/strategy.h"

namespace fiel {

/// Log speed-up: what helps less than 1 % at first sight is taken for no help.
inline const double kLeastGain = std::log(1.01);

/// Every route, in the space's fixed order.
std::unique_ptr<Strategy> make_full(const Space& space);

/// The baseline and each other engine's default; then every change of one knob of those, in turns.
std::unique_ptr<Strategy> make_fast(const Space& space, const BuildRoute& baseline);

/// As fast, then the product of the values that helped.
std::unique_ptr<Strategy> make_mixed(const Space& space, const BuildRoute& baseline);

/// Each route equally likely, none twice.
std::unique_ptr<Strategy> make_random(const Space& space, std::uint64_t seed);

/// Starts, a few designed draws and one-off changes, then what a model of the trials so far expects most of; a tenth by chance.
std::unique_ptr<Strategy> make_auto(const Space& space, const BuildRoute& baseline,
                                    std::uint64_t seed);

/// Whatever the program proposes that this shell command starts.
Result<std::unique_ptr<Strategy>> make_program(const Space& space, const BuildRoute& baseline, std::uint64_t seed, std::string_view command);

/// Where one-off changes start, one route per engine: the baseline (or the valid route nearest to
/// it), then the other engines' defaults. Engines in which that is forbidden are left out.
std::vector<BuildRoute> starts(const Space& space, const BuildRoute& baseline);

}  // namespace fiel
