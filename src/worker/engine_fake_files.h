// The files that the scripted engine reads and writes, and the wrong ones that it writes on demand.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "worker/engine_fake_outputs.h"

namespace fiel::fake {

/// The tensors of one sample of a request.
Result<Tensors> read_inputs(const Json& sample);

/// Not write_atomic: tests run thousands of blocks, and nothing here must outlive a power failure.
Result<> write_plain(const std::filesystem::path& path, std::string_view bytes);

/// When the requests of a server block are due.
Result<std::vector<double>> read_arrivals(const std::filesystem::path& path);

/// `how` is the "values" of the fault "latencies"; empty: as they are.
Result<> write_latencies(const std::filesystem::path& path, std::vector<double> latencies,
                         const std::string& how);

}  // namespace fiel::fake
