// On which of ONNX Runtime's providers did the nodes land? Taken from what it logs of a session in the making, since no call tells it
// in all versions. Private to engine_onnxruntime*.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace fiel {

struct SessionLog {
  std::map<std::string, int> placement;  // nodes by provider

  /// One message; those that say nothing of it are left alone.
  void take(std::string_view message);
};

/// By device and provider. All of them run on the CPU; but where the provider took no node at all, the candidate is not what its
/// route says, and the place is none on the device.
std::map<std::string, int> placement_of(const SessionLog& log, const std::string& provider);

}  // namespace fiel
