// What this machine can do, as far as it decides which knobs and values make sense here.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fiel {

struct MachineFacts {
  /// CPU flags that matter to inference, as the kernel spells them ("avx2", "amx_int8"), sorted.
  std::vector<std::string> cpu_features;
  int core_count = 1;  // that this process may run on
  /// All of the above and: "smt", "hybrid" (two kinds of cores), "sockets" (more than one),
  /// "thp_madvise" (huge pages for those who ask), "glibc_hugetlb" (malloc can ask). Engines add
  /// "capability:BF16" and the like.
  std::set<std::string> facts;

  /// "avx512_vnni|avx_vnni" holds if one of the alternatives is a fact.
  bool holds(std::string_view need) const;
};

MachineFacts read_machine_facts();
/// The inference flags of a /proc/cpuinfo.
std::vector<std::string> parse_cpu_features(std::string_view cpuinfo);

}  // namespace fiel
