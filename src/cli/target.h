// What a command is about: a contract, or a model together with a folder of samples.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"
#include "contract/contract.h"

namespace fiel {

struct Target {
  std::string target;  // contract.toml or model.onnx
  std::string data;    // goes with a model
};

/// `command` is named in what a user is told to type.
Result<Contract> contract_of(const Target& target, std::string_view command, const Cli& cli);

}  // namespace fiel
