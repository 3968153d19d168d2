#include "model/openvino_ir.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/numbers.h"
#include "model/xml_tags.h"

namespace fiel {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 13> kPrecisions = {{{"FP64", DType::kFloat64},
                                                                             {"FP32", DType::kFloat32},
                                                                             {"FP16", DType::kFloat16},
                                                                             {"BF16", DType::kBFloat16},
                                                                             {"I64", DType::kInt64},
                                                                             {"I32", DType::kInt32},
                                                                             {"I16", DType::kInt16},
                                                                             {"I8", DType::kInt8},
                                                                             {"U64", DType::kUInt64},
                                                                             {"U32", DType::kUInt32},
                                                                             {"U16", DType::kUInt16},
                                                                             {"U8", DType::kUInt8},
                                                                             {"BOOL", DType::kBool}}};

std::unexpected<Error> no_ir(std::string message) {
  return fail(ErrorKind::kContract, "no OpenVINO IR: " + std::move(message), "write it again: openvino.save_model(model, \"model.xml\")");
}

// "a,b\,c" -> a and "b,c".
std::set<std::string> split_names(const std::string& text) {
  std::set<std::string> names;
  std::string name;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == ',') {
      if (!name.empty()) names.insert(std::move(name));
      name.clear();
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      name += text[i];
    }
  }
  return names;
}

struct Side {
  std::string precision;
  std::set<std::string> names;
  std::vector<Dimension> dims;
};

struct Layer {
  std::string name, type;
  std::map<std::string, Side> ports;  // by id; those that go in and those that come out are numbered together
  std::set<std::string> own_names;    // of a result, where it has other ones than what it is given
};

struct Network {
  std::vector<std::string> order;
  std::map<std::string, Layer> layers;                                // by id
  std::map<std::string, std::pair<std::string, std::string>> source;  // of a layer's input: layer, port
};

// Follows the tags; bodies of loops and branches have layers too, but deeper down.
class Reader {
 public:
  explicit Reader(Network& network) : network_(network) {}

  void open(const XmlTag& tag) {
    const std::size_t depth = above_.size();
    if (depth == 2 && above_[1] == "layers" && tag.name == "layer") {
      const std::string id = tag.value("id");
      network_.order.push_back(id);
      layer_ = &network_.layers[id];
      layer_->name = tag.value("name");
      layer_->type = tag.value("type");
      layer_->own_names = split_names(tag.value("output_names"));
    } else if (depth == 4 && layer_ != nullptr && tag.name == "port" && (above_[3] == "input" || above_[3] == "output")) {
      side_ = &layer_->ports[tag.value("id")];
      side_->precision = tag.value("precision");
      side_->names = split_names(tag.value("names"));
    } else if (depth == 2 && above_[1] == "edges" && tag.name == "edge") {
      network_.source[tag.value("to-layer")] = {tag.value("from-layer"), tag.value("from-port")};
    }
    if (!tag.is_empty) above_.push_back(tag.name);
  }

  void close(const XmlTag& tag, std::string_view text) {
    if (above_.size() == 6 && tag.name == "dim" && side_ != nullptr) {
      side_->dims.push_back({.size = number_from<std::int64_t>(text).value_or(-1), .name = {}});
    }
    if (above_.size() == 5) side_ = nullptr;
    if (above_.size() == 3) layer_ = nullptr;
    above_.pop_back();
  }

  const std::vector<std::string>& above() const { return above_; }

 private:
  Network& network_;
  Layer* layer_ = nullptr;
  Side* side_ = nullptr;
  std::vector<std::string> above_;
};

// As OpenVINO names a port: by its node where that is one of the tensor's names, else by the first of those.
Result<ModelPort> port_of(const Layer& layer, const Side& side, const std::set<std::string>& names) {
  if (names.empty()) return no_ir(fmt::format("its {} \"{}\" has no name", layer.type == "Result" ? "output" : "input", layer.name));
  const std::string own = layer.name.substr(0, layer.name.find("/sink_port_"));
  const auto* const known = std::ranges::find(kPrecisions, side.precision, &std::pair<std::string_view, DType>::first);
  ModelPort port{.name = names.contains(own) ? own : *names.begin(), .dtype = {}, .type_name = side.precision, .dims = {}};
  if (known != kPrecisions.end()) port.dtype = known->second;
  port.dims = side.dims;
  for (Dimension& dim : *port.dims) dim.size = std::max<std::int64_t>(dim.size, -1);
  return port;
}

Result<ModelPort> output_of(const Network& network, const std::string& id, const Layer& layer) {
  const auto edge = network.source.find(id);
  const auto from = edge == network.source.end() ? network.layers.end() : network.layers.find(edge->second.first);
  if (from == network.layers.end()) return no_ir(fmt::format("nothing leads to its output \"{}\"", layer.name));
  const auto side = from->second.ports.find(edge->second.second);
  if (side == from->second.ports.end()) return no_ir(fmt::format("its layer \"{}\" has no such port", from->second.name));
  return port_of(layer, side->second, layer.own_names.empty() ? side->second.names : layer.own_names);
}

}  // namespace

Result<ModelPorts> read_openvino_ir(std::string_view xml) {
  Network network;
  Reader reader(network);
  XmlTags tags(xml);
  for (;;) {
    const auto tag = tags.next();
    if (!tag) return no_ir(tag.error().message);
    if (!*tag) break;
    if (!(*tag)->is_end) {
      if (reader.above().empty() && (*tag)->name != "net") return no_ir(fmt::format("it begins with <{}>", (*tag)->name));
      reader.open(**tag);
    } else if (reader.above().empty() || reader.above().back() != (*tag)->name) {
      return no_ir(fmt::format("</{}> ends what did not begin", (*tag)->name));
    } else {
      reader.close(**tag, tags.text());
    }
  }
  if (!reader.above().empty()) return no_ir("it is cut off");
  ModelPorts ports;
  for (const std::string& id : network.order) {
    const Layer& layer = network.layers.at(id);
    if (layer.type == "Result") ports.outputs.push_back(FIEL_TRY(output_of(network, id, layer)));
    if (layer.type != "Parameter") continue;
    if (layer.ports.empty()) return no_ir(fmt::format("its input \"{}\" has no port", layer.name));
    const Side& side = layer.ports.begin()->second;
    ports.inputs.push_back(FIEL_TRY(port_of(layer, side, side.names)));
  }
  if (ports.outputs.empty()) return no_ir("it has no output");
  return ports;
}

}  // namespace fiel
