// Does what the contract names fit the model? And does a sample? Knows names, types and shapes;
// runs nothing.
#pragma once

#include <map>
#include <string>

#include "contract/contract.h"
#include "model/onnx_model.h"

namespace fiel {

/// Shapes, ranges, states, tensor rules and tasks against the model's ports; all that does not fit,
/// one a line.
Result<> check_contract(const Contract& contract, const OnnxModel& model);

/// Is this input fed by an output of the step before?
bool is_state_input(const Contract& contract, std::string_view name);

/// The shape of one step: with [[model.state]] the inputs of a sample have a leading axis of steps,
/// but not the states.
Shape step_shape(const Contract& contract, std::string_view input, const Shape& shape);

/// Names, dtypes, shapes (also against the contract's traffic), steps and declared ranges. A
/// message begins with the input's name; the caller says which sample.
Result<> check_inputs(const Contract& contract, const OnnxModel& model,
                      const std::map<std::string, Tensor>& inputs);

/// Is `dims` one that the port takes?
bool fits(const ModelPort& port, const Shape& shape);

}  // namespace fiel
