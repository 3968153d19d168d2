// What bench/overhead compares fiel with: the loop that one would write by hand around OpenVINO, and nothing else.
//
//   bare_openvino_loop MODEL PACK SAMPLE_COUNT [NAME=VALUE ...]
//
// The model has one float32 input of a static shape; PACK holds SAMPLE_COUNT of them, each padded to 64 bytes. For each
// line "MIN_COUNT MIN_SECONDS" on standard input it runs a block and prints the block's median latency in seconds.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <openvino/openvino.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: bare_openvino_loop MODEL PACK SAMPLE_COUNT [NAME=VALUE ...]\n";
    return 2;
  }
  ov::AnyMap properties;
  for (int i = 4; i < argc; ++i) {
    const std::string setting = argv[i];
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) return 2;
    properties[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::vector<char> pack((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto sample_count = std::stoul(argv[3]);

  ov::Core core;
  ov::CompiledModel compiled = core.compile_model(std::string(argv[1]), "CPU", properties);
  ov::InferRequest request = compiled.create_infer_request();
  ov::Tensor input = request.get_input_tensor();
  const std::size_t stride = (input.get_byte_size() + 63) / 64 * 64;
  if (pack.size() < stride * sample_count) return 2;

  using Clock = std::chrono::steady_clock;
  std::vector<double> latencies;
  std::size_t next = 0;
  std::size_t min_count = 0;
  double min_seconds = 0;
  std::cout << std::setprecision(17);
  while (std::cin >> min_count >> min_seconds) {
    latencies.clear();
    const Clock::time_point first = Clock::now();
    Clock::time_point end = first;
    do {
      std::memcpy(input.data(), pack.data() + stride * (next++ % sample_count), input.get_byte_size());
      const Clock::time_point start = Clock::now();
      request.infer();
      end = Clock::now();
      latencies.push_back(std::chrono::duration<double>(end - start).count());
    } while (latencies.size() < min_count || std::chrono::duration<double>(end - first).count() < min_seconds);
    std::ranges::nth_element(latencies, latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 2));
    std::cout << latencies[latencies.size() / 2] << std::endl;
  }
}
