// The keys that calls are signed with, and where they come from: cached and renewed behind an
// interface. Loop thread only.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/task.hpp"

#include <optional>
#include <string>

namespace millwright::cloud {

// Secrets: never logged, never part of an error.
struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;                  // empty for long-lived keys
  std::optional<base::TimePoint> expires_at;  // absent: never
  friend bool operator==(const Credentials&, const Credentials&) = default;
};

// nullopt: this source is not set up here, try the next.
using Found = base::Result<std::optional<Credentials>>;

class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  virtual base::Task<base::Result<Credentials>> get() = 0;
  // The cloud refused them: the next get() asks for new ones.
  virtual void invalidate() = 0;
};

}  // namespace millwright::cloud
