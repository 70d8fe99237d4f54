// Keys that are found once, reused until shortly before they expire, and then found again; whoever
// asks meanwhile waits for the same search. Loop thread only.
#pragma once

#include "cloud/common/keys/credentials.hpp"
#include "millwright/base/log.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud {

class RenewedCredentials final : public CredentialSource {
 public:
  struct Parts {
    base::Loop& loop;
    std::string cloud;  // for people: "AWS"
    std::function<base::Task<base::Result<Credentials>>()> find;
    base::Logger log;
  };
  explicit RenewedCredentials(Parts parts) : parts_(std::move(parts)) {}

  // While a renewal fails, keys that have not expired still serve.
  base::Task<base::Result<Credentials>> get() override;
  void invalidate() override { invalid_ = true; }

 private:
  bool is_fresh() const;
  base::Task<base::Result<Credentials>> renew();

  Parts parts_;
  std::optional<Credentials> current_;
  base::TimePoint renew_at_ = base::TimePoint::max();
  bool invalid_ = false;
  bool renewing_ = false;
  base::Error failure_;  // of the last renewal, for those who waited for it
  std::vector<base::Promise<bool>> waiting_;
};

}  // namespace millwright::cloud
