// ACK's scripts that join machines to the cluster, asked for once for all launches of some hours.
// Loop thread only.
#pragma once

#include "cloud/alibaba/calls/cs.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::cloud::alibaba {

class JoinScripts {
 public:
  explicit JoinScripts(Api& api) : loop_(api.loop()), cs_(api) {}

  // A secret: the script has a token. Who asks while the script is on its way waits for it, and for
  // what becomes of it.
  base::Task<base::Result<std::string>> get(AttachQuestion question);

 private:
  struct Script {
    std::string text;  // empty: none is known
    base::TimePoint until;
    bool asking = false;
    std::vector<base::Promise<base::Result<std::string>>> waiting;
  };
  base::Loop& loop_;
  Cs cs_;
  std::map<std::string, Script, std::less<>> scripts_;  // by architecture and disk format
};

}  // namespace millwright::cloud::alibaba
