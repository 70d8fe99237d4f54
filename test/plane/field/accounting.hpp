// What a controller took of the machine and asked of the API server.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace millwright::field {

// User and system time of a process, and the most memory that it ever held.
struct Usage {
  double cpu_seconds = 0;
  double peak_rss_mib = 0;
};
Usage usage_of(pid_t process);

// Rules of an audit policy that record what calls_in() counts.
std::string audit_rules(const std::vector<std::string>& users);

// What the API server's audit log has seen so far.
struct Calls {
  int requests = 0;  // of these users
  int evicted = 0;   // pods, by anybody
};
Calls calls_in(const std::string& audit_log, const std::vector<std::string>& users);

}  // namespace millwright::field
