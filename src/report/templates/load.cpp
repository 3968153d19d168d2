// Loads the sealed artifact of a bundle, runs it, and says what came out and how long it took.
//
//   load [INPUT=FILE.npy ...]
//
// Inputs that are not given are zeros, if they are floats: enough to see that it runs, not that it is right.
// Exit status: 2 usage, 6 seal broken, 7 another engine's version or CPU than the bundle was measured with.
// What it is bound to stands in sealed.h, which `fiel export` wrote.
#include <openssl/evp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine.h"
#include "sealed.h"

namespace {

constexpr int kTimed = 20;

[[noreturn]] void stop(int status, const std::string& message) {
  std::fprintf(stderr, "load: %s\n", message.c_str());
  std::exit(status);
}

std::string read_file(const std::string& path, int status) {
  std::ifstream file(path, std::ios::binary);
  if (!file) stop(status, "cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string sha256(const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) stop(70, "no SHA-256 here");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", digest[i]);
    text += two;
  }
  return text;
}

void check_seal(const std::string& folder) {
  for (const sealed::File& file : sealed::kFiles) {
    if (sha256(read_file(folder + "/" + file.path, 6)) != file.sha256) {
      stop(6, std::string("the seal is broken: ") + file.path + " is not what was measured");
    }
  }
}

// Some settings are read when a process starts: set them, and start once more.
void enter_environment(char** arguments) {
  bool restart = false;
  for (const sealed::Setting& setting : sealed::kEnvironment) {
    const char* now = std::getenv(setting.name);
    if (now != nullptr && std::strcmp(now, setting.value) == 0) continue;
    setenv(setting.name, setting.value, 1);
    restart = true;
  }
  if (!restart) return;
  if (std::getenv("FIEL_BUNDLE_RESTARTED") != nullptr) stop(7, "the environment does not keep the bundle's settings");
  setenv("FIEL_BUNDLE_RESTARTED", "1", 1);
  execv("/proc/self/exe", arguments);
  stop(7, "cannot start again with the bundle's environment");
}

void check_version() {
  if (Session::version() == sealed::kEngineVersion) return;
  stop(7, std::string("this artifact belongs to ") + kEngineName + " " + sealed::kEngineVersion + ", here is " +
              Session::version());
}

// The flags of the first core, as the kernel spells them; none where it does not say.
std::set<std::string> cpu_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

void check_cpu() {
  const std::set<std::string> flags = cpu_flags();
  std::string lacking;
  for (const std::string& feature : sealed::kCpuFeatures) {
    if (!flags.empty() && flags.count(feature) == 0) lacking += (lacking.empty() ? "" : ", ") + feature;
  }
  if (!lacking.empty()) {
    stop(7, "this CPU lacks " + lacking + ", which the artifact was built and measured with: tune again here");
  }
}

// Other cores are no error, but no figure holds on them.
void note_cores() {
  cpu_set_t ours;
  CPU_ZERO(&ours);
  if (sealed::kCores.empty() || sched_getaffinity(0, sizeof ours, &ours) != 0) return;
  bool same = CPU_COUNT(&ours) == static_cast<int>(sealed::kCores.size());
  std::string list;
  for (const int core : sealed::kCores) {
    same = same && CPU_ISSET(static_cast<std::size_t>(core), &ours);
    list += (list.empty() ? "" : ",") + std::to_string(core);
  }
  if (same) return;
  std::fprintf(stderr, "load: note: it was measured on cores %s alone: taskset -c %s ...\n", list.c_str(), list.c_str());
}

// Open axes are filled from the traffic's first shape, the batch along axis 0.
std::vector<long> shape_of(const Port& port, const std::vector<long>& traffic) {
  std::vector<long> shape = port.sizes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] >= 0) continue;
    shape[axis] = (axis < traffic.size() ? traffic[axis] : 1) * (axis == 0 ? sealed::kBatch : 1);
  }
  return shape;
}

std::size_t bytes_of(const Port& port, const std::vector<long>& shape) {
  std::size_t bytes = port.element_bytes;
  for (const long size : shape) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

// NumPy's format, versions 1 to 3: magic, length of the header, a Python dictionary, raw data in C order.
std::pair<std::vector<long>, std::string> read_npy(const std::string& path, const Port& port) {
  const std::string bytes = read_file(path, 2);
  if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0) stop(2, path + " is no .npy file");
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])); };
  const bool wide = bytes[6] >= 2;
  const std::size_t begin = wide ? 12 : 10;
  const std::size_t length = byte(8) + (byte(9) << 8) + (wide ? (byte(10) << 16) + (byte(11) << 24) : 0);
  if (bytes.size() < begin + length) stop(2, path + " is cut off");
  const std::string header = bytes.substr(begin, length);
  if (header.find("'fortran_order': False") == std::string::npos) stop(2, path + ": C order is wanted");
  std::vector<long> shape;
  const std::size_t open = header.find('(', header.find("'shape'")), close = header.find(')', open);
  if (open == std::string::npos || close == std::string::npos) stop(2, path + " has no shape");
  for (std::size_t at = open + 1; at < close; ++at) {
    if (header[at] < '0' || header[at] > '9') continue;
    char* end = nullptr;
    shape.push_back(std::strtol(header.c_str() + at, &end, 10));
    at = static_cast<std::size_t>(end - header.c_str());
  }
  std::string data = bytes.substr(begin + length);
  if (data.size() != bytes_of(port, shape)) stop(2, path + " is not of type " + port.type);
  return {shape, data};
}

void fill_inputs(Session& session, std::map<std::string, std::string> files) {
  for (std::size_t i = 0; i < sealed::kInputs.size(); ++i) {
    const sealed::Input& input = sealed::kInputs[i];
    const Port port = session.input(i);
    if (const auto given = files.find(input.name); given != files.end()) {
      const auto [shape, data] = read_npy(given->second, port);
      session.set_input(i, shape, data);
      files.erase(given);
      continue;
    }
    if (!port.is_float) stop(2, "input " + input.name + " is no float: give " + input.name + "=FILE.npy");
    const std::vector<long> shape = shape_of(port, input.traffic);
    session.set_input(i, shape, std::string(bytes_of(port, shape), '\0'));
  }
  if (!files.empty()) stop(2, "no input is called " + files.begin()->first);
}

double run_once(Session& session) {
  const auto start = std::chrono::steady_clock::now();
  session.run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void report(Session& session) {
  const double first = run_once(session);
  std::vector<double> times;
  for (int i = 0; i < kTimed; ++i) times.push_back(run_once(session));
  for (std::size_t i = 0; i < sealed::kOutputs.size(); ++i) {
    const Port port = session.output(i);
    std::printf("output %s %s [", sealed::kOutputs[i].c_str(), port.type.c_str());
    for (std::size_t axis = 0; axis < port.sizes.size(); ++axis) {
      std::printf("%s%ld", axis == 0 ? "" : ", ", port.sizes[axis]);
    }
    std::printf("]\n");
  }
  std::sort(times.begin(), times.end());
  std::printf("latency %.3f ms (median of %d, after a first one of %.3f ms)\n",
              (times[kTimed / 2 - 1] + times[kTimed / 2]) / 2, kTimed, first);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = BUNDLE_FOLDER;
  std::map<std::string, std::string> files;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) stop(2, argument + ": expected INPUT=FILE.npy");
    files[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  check_seal(folder);
  enter_environment(arguments);
  try {
    check_version();
    check_cpu();
    note_cores();
    Session session(folder);
    fill_inputs(session, files);
    report(session);
  } catch (const std::exception& error) {
    stop(1, error.what());
  }
  return 0;
}
