#include "gate/reference_index.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "gate/mapped_file.h"

namespace fiel {
namespace {

constexpr int kFormat = 1;
constexpr std::int64_t kMaxIndexBytes = std::int64_t{1} << 30;

Json place_json(const PackedTensor& place) {
  return {{"offset", place.offset}, {"dtype", to_string(place.dtype)}, {"shape", place.shape}};
}

Result<PackedTensor> place_from(const Json& json) {
  PackedTensor place;
  place.offset = FIEL_TRY(get_int(json, "offset"));
  const auto dtype = parse_dtype(FIEL_TRY(get_string(json, "dtype")));
  const auto shape = json.find("shape");
  if (!dtype || shape == json.end() || !shape->is_array()) {
    return fail(ErrorKind::kProtocol, "a tensor without dtype or shape");
  }
  place.dtype = *dtype;
  for (const Json& size : *shape) {
    if (!size.is_number_integer()) return fail(ErrorKind::kProtocol, "a shape that is not integers");
    place.shape.push_back(size.get<std::int64_t>());
  }
  return place;
}

// Without finite elements there is no range, and JSON has no infinities to say so.
Json traits_json(const TensorTraits& traits) {
  Json json = {{"count", traits.count}, {"zeros", traits.zeros}, {"non_finite", traits.non_finite}};
  if (traits.min <= traits.max) {
    json["min"] = traits.min;
    json["max"] = traits.max;
  }
  return json;
}

Result<TensorTraits> traits_from(const Json& json) {
  TensorTraits traits;
  traits.count = FIEL_TRY(get_int(json, "count"));
  traits.zeros = FIEL_TRY(get_int(json, "zeros"));
  traits.non_finite = FIEL_TRY(get_int(json, "non_finite"));
  if (json.contains("min")) {
    traits.min = FIEL_TRY(get_number(json, "min"));
    traits.max = FIEL_TRY(get_number(json, "max"));
  }
  return traits;
}

Result<const Json*> member(const Json& json, std::string_view key, Json::value_t type) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (!json.is_object() || found == json.end() || found->type() != type) {
    return fail(ErrorKind::kProtocol, fmt::format("\"{}\" is missing or of another type", key));
  }
  return &*found;
}

Result<> read_places(ReferenceIndex& index, const Json& samples) {
  for (const Json& sample : samples) {
    if (!sample.is_object()) return fail(ErrorKind::kProtocol, "a sample is no object");
    auto& places = index.places.emplace_back();
    for (const auto& [name, json] : sample.items()) {
      const PackedTensor place = FIEL_TRY(place_from(json));
      if (!lies_inside(place, index.pack_bytes)) {
        return fail(ErrorKind::kProtocol, fmt::format("output {} lies outside the pack", name));
      }
      places.emplace(name, place);
    }
  }
  return {};
}

Result<> read_scores(ReferenceIndex& index, const Json& scores) {
  for (const auto& [task, values] : scores.items()) {
    if (!values.is_array() || values.size() != index.places.size()) {
      return fail(ErrorKind::kProtocol, fmt::format("task {} has not one score per sample", task));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is_number()) return fail(ErrorKind::kProtocol, "a score is no number");
      index.scores[task][static_cast<int>(i)] = values[i].get<double>();
    }
  }
  return {};
}

Result<ReferenceIndex> index_from(const Json& json) {
  if (FIEL_TRY(get_int(json, "format")) != kFormat) return fail(ErrorKind::kProtocol, "another format");
  ReferenceIndex index;
  index.set_digest = FIEL_TRY(get_string(json, "set"));
  index.pack_bytes = FIEL_TRY(get_int(json, "pack_bytes"));
  index.pack_digest = FIEL_TRY(get_string(json, "pack_digest"));
  const Json* samples = FIEL_TRY(member(json, "samples", Json::value_t::array));
  const Json* scores = FIEL_TRY(member(json, "scores", Json::value_t::object));
  const Json* all_traits = FIEL_TRY(member(json, "traits", Json::value_t::object));
  FIEL_TRY(read_places(index, *samples));
  FIEL_TRY(read_scores(index, *scores));
  for (const auto& [name, traits] : all_traits->items()) {
    index.traits.emplace(name, FIEL_TRY(traits_from(traits)));
  }
  return index;
}

}  // namespace

Result<> write_reference_index(const std::filesystem::path& file, const ReferenceIndex& index) {
  Json json = {{"format", kFormat},
               {"set", index.set_digest},
               {"pack_bytes", index.pack_bytes},
               {"pack_digest", index.pack_digest},
               {"samples", Json::array()},
               {"scores", Json::object()},
               {"traits", Json::object()}};
  for (const auto& places : index.places) {
    Json sample = Json::object();
    for (const auto& [name, place] : places) sample[name] = place_json(place);
    json["samples"].push_back(std::move(sample));
  }
  for (const auto& [task, by_sample] : index.scores) {
    json["scores"][task] = Json::array();
    for (const auto& [sample, score] : by_sample) json["scores"][task].push_back(score);
  }
  for (const auto& [name, traits] : index.traits) json["traits"][name] = traits_json(traits);
  return write_atomic(file, dump_json(json));
}

Result<ReferenceIndex> read_reference_index(const std::filesystem::path& file) {
  const auto corrupt = [&file](const Error& error) {
    return fail(ErrorKind::kCorrupt,
                fmt::format("{} is not a finished index of reference outputs: {}", file.string(), error.message),
                "the reference outputs have to be made again");
  };
  const auto text = read_text(file, kMaxIndexBytes);
  if (!text) return corrupt(text.error());
  const auto json = parse_json(*text);
  if (!json) return corrupt(json.error());
  auto index = index_from(*json);
  if (!index) return corrupt(index.error());
  return index;
}

}  // namespace fiel
