#include "plane/field/accounting.hpp"

#include "plane/runner/plane.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace millwright::field {

Usage usage_of(pid_t process) {
  Usage usage;
  const std::string folder = fmt::format("/proc/{}/", process);
  const std::string stat = plane::read_text(folder + "stat");
  // After the name, which may hold spaces: field 3 on; utime and stime are fields 14 and 15.
  std::istringstream fields(stat.substr(std::min(stat.rfind(')') + 2, stat.size())));
  std::string skipped;
  for (int i = 3; i < 14; ++i) {
    fields >> skipped;
  }
  double user = 0;
  double system = 0;
  fields >> user >> system;
  usage.cpu_seconds = (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::string status = plane::read_text(folder + "status");
  const auto peak = status.find("VmHWM:");
  if (peak != std::string::npos) {
    usage.peak_rss_mib = std::strtod(status.c_str() + peak + 6, nullptr) / 1'024;
  }
  return usage;
}

std::string audit_rules(const std::vector<std::string>& users) {
  std::string rules =
      "- {level: Metadata, resources: [{group: \"\", resources: [pods/eviction]}]}\n";
  for (const auto& user : users) {
    rules += fmt::format("- {{level: Metadata, users: [\"{}\"]}}\n", user);
  }
  return rules;
}

Calls calls_in(const std::string& audit_log, const std::vector<std::string>& users) {
  Calls calls;
  std::set<std::string> evicted;
  std::ifstream lines(audit_log);
  for (std::string line; std::getline(lines, line);) {
    boost::system::error_code error;
    const auto entry = plane::json::parse(line, error);
    if (error) {
      continue;  // the last line may be half written
    }
    const auto user = plane::text_at(entry, "/user/username");
    calls.requests += std::find(users.begin(), users.end(), user) != users.end() ? 1 : 0;
    if (plane::text_at(entry, "/objectRef/subresource") == "eviction") {
      const auto* code = entry.find_pointer("/responseStatus/code", error);
      if (code != nullptr && code->is_int64() && code->get_int64() == 201) {
        evicted.insert(plane::text_at(entry, "/objectRef/name"));
      }
    }
  }
  calls.evicted = static_cast<int>(evicted.size());
  return calls;
}

}  // namespace millwright::field
