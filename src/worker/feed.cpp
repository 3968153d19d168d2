#include "worker/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "worker/guard.h"

namespace fiel {
namespace {

std::unexpected<EngineError> wrong(const SampleFiles& sample, std::string_view input,
                                   std::string_view what) {
  return engine_fail("bad_request",
                     fmt::format("sample {}, input \"{}\": {}", sample.index, input, what));
}

bool fits(const Shape& port, const Shape& shape) {
  return std::ranges::equal(port, shape, [](std::int64_t wanted, std::int64_t got) {
    return wanted < 0 || wanted == got;
  });
}

std::optional<std::size_t> find(const std::vector<EnginePort>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &EnginePort::name);
  if (found == ports.end()) return std::nullopt;
  return static_cast<std::size_t>(found - ports.begin());
}

EngineResult<> check_names(const std::vector<EnginePort>& ports, const SampleFiles& sample) {
  for (const auto& [name, tensor] : sample.inputs) {
    if (!find(ports, name)) return wrong(sample, name, "the model has no such input");
  }
  return {};
}

EngineResult<> check_shape(const EnginePort& port, const SampleFiles& sample, const Shape& shape) {
  if (fits(port.shape, shape)) return {};
  return wrong(
      sample, port.name,
      fmt::format("its shape is {}, the model takes {}", to_string(shape), to_string(port.shape)));
}

std::size_t bytes_of(DType dtype, const Shape& shape) {
  return static_cast<std::size_t>(*element_count(shape)) * element_size(dtype);
}

}  // namespace

EngineResult<Feed> Feed::create(const Loaded& loaded, const std::vector<SampleFiles>& samples,
                                std::int64_t batch) {
  std::vector<std::string> names;
  for (const EnginePort& port : loaded.report.outputs) names.push_back(port.name);
  Feed feed(std::move(names));
  for (const StateLink& link : loaded.state) {
    const std::optional<std::size_t> input = find(loaded.report.inputs, link.input);
    const std::optional<std::size_t> output = find(loaded.report.outputs, link.output);
    if (!input || !output)
      return engine_fail("bad_request", "\"state\" names no input or output of the model");
    feed.carried_.push_back({.input = *input, .output = *output});
  }
  for (const SampleFiles& sample : samples)
    FIEL_TRY_ENGINE(check_names(loaded.report.inputs, sample));
  if (feed.recurrent()) {
    if (batch != 1)
      return engine_fail("unsupported",
                         "a recurrent model runs one sequence at a time: batch must be 1");
    for (const SampleFiles& sample : samples) FIEL_TRY_ENGINE(feed.add_sequence(loaded, sample));
    return feed;
  }
  feed.batch_ = batch;
  const auto size = static_cast<std::size_t>(batch);
  for (std::size_t i = 0; i < samples.size(); i += size) {
    const auto count = std::min(size, samples.size() - i);
    FIEL_TRY_ENGINE(feed.add_batch(loaded, {samples.data() + i, count}, batch));
  }
  return feed;
}

std::int64_t Feed::sample_count(std::size_t item) const {
  return static_cast<std::int64_t>(items_[item].indices.size());
}

bool Feed::is_state(std::size_t input) const {
  return std::ranges::find(carried_, input, &Carried::input) != carried_.end();
}

EngineResult<TensorView> Feed::read(const EnginePort& port, const SampleFiles& sample) {
  const auto found = sample.inputs.find(port.name);
  if (found == sample.inputs.end()) return wrong(sample, port.name, "it is missing");
  const TensorFile& tensor = found->second;
  if (tensor.dtype != port.dtype) {
    return wrong(sample, port.name,
                 fmt::format("its dtype is {}, the model takes {}", to_string(tensor.dtype),
                             to_string(port.dtype)));
  }
  const Result<std::span<const std::byte>> bytes = packs_.bytes_of(tensor);
  if (!bytes) return wrong(sample, port.name, bytes.error().message);
  return TensorView{tensor.dtype, shapes_.emplace_back(tensor.shape), *bytes};
}

EngineResult<> Feed::add_batch(const Loaded& loaded, std::span<const SampleFiles> samples,
                               std::int64_t batch) {
  Item item;
  for (const SampleFiles& sample : samples) item.indices.push_back(sample.index);
  Step step;
  for (const EnginePort& port : loaded.report.inputs) {
    step.push_back(batch == 1 ? FIEL_TRY_ENGINE(read(port, samples.front()))
                              : FIEL_TRY_ENGINE(join(port, samples, batch)));
    FIEL_TRY_ENGINE(check_shape(port, samples.front(), step.back().shape));
  }
  item.steps.push_back(std::move(step));
  items_.push_back(std::move(item));
  return {};
}

// All of a batch have one shape: what they are joined from can then be told apart again by
// counting.
EngineResult<TensorView> Feed::join(const EnginePort& port, std::span<const SampleFiles> samples,
                                    std::int64_t batch) {
  std::vector<std::byte>& joined = buffers_.emplace_back();
  std::optional<TensorView> first;
  for (std::int64_t i = 0; i < batch; ++i) {
    const SampleFiles& sample = samples[std::min(static_cast<std::size_t>(i), samples.size() - 1)];
    const TensorView part = FIEL_TRY_ENGINE(read(port, sample));
    if (!first) {
      if (part.shape.empty())
        return wrong(sample, port.name, "a scalar has no axis to join a batch along");
      first.emplace(part);
      joined.reserve(part.bytes.size() * static_cast<std::size_t>(batch));
    }
    if (part.shape != first->shape) {
      return wrong(
          sample, port.name,
          fmt::format("its shape {} differs from {}, that of sample {} of the same batch",
                      to_string(part.shape), to_string(first->shape), samples.front().index));
    }
    joined.insert(joined.end(), part.bytes.begin(), part.bytes.end());
  }
  Shape& shape = shapes_.emplace_back(first->shape);
  shape.front() *= batch;
  return TensorView{port.dtype, shape, joined};
}

EngineResult<> Feed::add_sequence(const Loaded& loaded, const SampleFiles& sample) {
  const std::vector<EnginePort>& ports = loaded.report.inputs;
  std::vector<TensorView> whole;
  std::optional<std::int64_t> steps;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    whole.push_back(is_state(i) ? FIEL_TRY_ENGINE(initial_state(loaded, ports[i], sample))
                                : FIEL_TRY_ENGINE(read(ports[i], sample)));
    const Shape& shape = whole.back().shape;
    if (is_state(i)) {
      FIEL_TRY_ENGINE(check_shape(ports[i], sample, shape));
      continue;
    }
    if (shape.empty() || shape.front() < 1)
      return wrong(sample, ports[i].name, "it has no leading axis of steps");
    if (shape.front() != steps.value_or(shape.front())) {
      return wrong(sample, ports[i].name,
                   fmt::format("it has {} steps, another input has {}", shape.front(), *steps));
    }
    steps = shape.front();
  }
  if (!steps)
    return engine_fail("bad_request",
                       "a recurrent model whose inputs are all state has no steps to run");

  Item item{.indices = {sample.index}, .steps = {}};
  for (std::int64_t step = 0; step < *steps; ++step) {
    Step views;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (is_state(i)) {
        views.push_back(whole[i]);
        continue;
      }
      const Shape& shape = shapes_.emplace_back(whole[i].shape.begin() + 1, whole[i].shape.end());
      FIEL_TRY_ENGINE(check_shape(ports[i], sample, shape));
      const std::size_t size = bytes_of(ports[i].dtype, shape);
      views.push_back({ports[i].dtype, shape,
                       whole[i].bytes.subspan(static_cast<std::size_t>(step) * size, size)});
    }
    item.steps.push_back(std::move(views));
  }
  items_.push_back(std::move(item));
  return {};
}

EngineResult<TensorView> Feed::initial_state(const Loaded& loaded, const EnginePort& port,
                                             const SampleFiles& sample) {
  if (sample.inputs.contains(port.name)) return read(port, sample);
  Shape shape = port.shape;
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; })) {
    const auto given = std::ranges::find_if(
        loaded.shapes, [&](const auto& one) { return one.contains(port.name); });
    if (given == loaded.shapes.end()) {
      return wrong(sample, port.name,
                   fmt::format("this state has dynamic axes ({}): give its start with the sample, "
                               "or its shape in \"shapes\" of the load request",
                               to_string(shape)));
    }
    shape = given->at(port.name);
  }
  if (!element_count(shape)) return wrong(sample, port.name, "this state is too large");
  return own_zeros(port.dtype, std::move(shape));
}

TensorView Feed::own_zeros(DType dtype, Shape shape) {
  const Shape& kept = shapes_.emplace_back(std::move(shape));
  return {dtype, kept, buffers_.emplace_back(bytes_of(dtype, kept))};
}

std::vector<TensorView> Feed::inputs_after(std::size_t item, std::size_t step,
                                           const std::vector<Tensor>& previous) const {
  std::vector<TensorView> views;
  const Step& given = inputs(item, step);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto carried = std::ranges::find(carried_, i, &Carried::input);
    views.push_back(carried == carried_.end() ? given[i] : previous[carried->output].view());
  }
  return views;
}

namespace {

// Steps lie one behind the other: their bytes appended are the array with a leading axis.
EngineResult<Tensor> stack(std::vector<std::vector<Tensor>>& steps, std::size_t output,
                           std::string_view name) {
  Tensor stacked{.dtype = steps.front()[output].dtype, .shape = {}, .bytes = {}};
  const Shape shape = steps.front()[output].shape;
  for (std::vector<Tensor>& step : steps) {
    if (step[output].shape != shape) {
      return engine_fail("unsupported",
                         fmt::format("output \"{}\" changes its shape from {} to {} between steps",
                                     name, to_string(shape), to_string(step[output].shape)));
    }
    stacked.bytes.insert(stacked.bytes.end(), step[output].bytes.begin(), step[output].bytes.end());
  }
  stacked.shape.push_back(static_cast<std::int64_t>(steps.size()));
  stacked.shape.insert(stacked.shape.end(), shape.begin(), shape.end());
  return stacked;
}

EngineResult<Tensor> part(const Tensor& whole, std::int64_t position, std::int64_t batch,
                          std::string_view name) {
  if (whole.shape.empty() || whole.shape.front() % batch != 0) {
    return engine_fail(
        "unsupported",
        fmt::format("output \"{}\" of shape {} cannot be split into {} along its first axis", name,
                    to_string(whole.shape), batch));
  }
  Tensor tensor{.dtype = whole.dtype, .shape = whole.shape, .bytes = {}};
  tensor.shape.front() /= batch;
  const auto size = static_cast<std::int64_t>(whole.bytes.size()) / batch;
  tensor.bytes.assign(whole.bytes.begin() + position * size,
                      whole.bytes.begin() + (position + 1) * size);
  return tensor;
}

}  // namespace

EngineResult<std::vector<SampleOutputs>> Feed::take_apart(
    std::size_t item, std::vector<std::vector<Tensor>> steps) const {
  std::vector<SampleOutputs> all;
  const std::vector<std::int64_t>& indices = items_[item].indices;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    SampleOutputs& one = all.emplace_back(SampleOutputs{.index = indices[i], .tensors = {}});
    for (std::size_t output = 0; output < output_names_.size(); ++output) {
      if (recurrent()) {
        one.tensors.push_back(FIEL_TRY_ENGINE(stack(steps, output, output_names_[output])));
      } else if (batch_ == 1) {
        one.tensors.push_back(std::move(steps.front()[output]));
      } else {
        one.tensors.push_back(FIEL_TRY_ENGINE(part(
            steps.front()[output], static_cast<std::int64_t>(i), batch_, output_names_[output])));
      }
    }
  }
  return all;
}

}  // namespace fiel
