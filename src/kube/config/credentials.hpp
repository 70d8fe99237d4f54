// Credentials for the API server: static ones, token files that are read again as they rotate, and
// exec plugins, which run on a thread of their own. Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/task.hpp"
#include "millwright/kube/config.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::kube {

struct Credential {
  std::string authorization;    // header value; empty: none
  std::string certificate_pem;  // client certificate given by a plugin
  std::string key_pem;
  std::optional<base::TimePoint> refresh_at;
  std::uint64_t generation = 0;
};

// client.authentication.k8s.io ExecCredential as a plugin prints it; `now` judges its expiry.
// Errors never show its contents.
base::Result<Credential> parse_exec_credential(const std::string& text, const ExecPlugin& plugin,
                                               base::TimePoint now);
// The value of KUBERNETES_EXEC_INFO for the plugin.
std::string exec_info(const ExecPlugin& plugin, const Config& config);

class Credentials {
 public:
  Credentials(base::Loop& loop, Config config, base::Logger log);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // Runs the plugin when needed; callers that come meanwhile wait for the same run.
  base::Task<base::Result<Credential>> current(std::stop_token stop);
  // The server refused this one. True when another can be had.
  bool refuse(std::uint64_t generation);

 private:
  base::Task<void> fetch(ExecPlugin plugin);
  base::Result<Credential> read_token_file();

  base::Loop& loop_;
  Config config_;
  base::Logger log_;
  std::optional<Credential> credential_;
  std::uint64_t generation_ = 0;
  // After a failure the plugin is not run again for each waiting request.
  std::optional<base::Error> failure_;
  base::TimePoint retry_at_;
  bool fetching_ = false;
  std::vector<base::Promise<base::Result<Credential>>> waiters_;
  std::stop_source stop_;
  std::unique_ptr<base::ComputeThreads> thread_;
  base::TaskGroup group_;
};

}  // namespace millwright::kube
