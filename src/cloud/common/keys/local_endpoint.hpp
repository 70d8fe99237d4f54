// Questions to an address that only this machine or pod can reach, such as instance metadata: short
// deadlines, few attempts, and no error shows what was answered, since that may be keys.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/client.hpp"

#include <string>

namespace millwright::cloud {

net::ClientRequest local_request(std::string url, std::string method = "GET");

struct LocalQuestion {
  base::Loop& loop;
  net::Client& client;
  net::ClientRequest request;
  std::string what;  // for errors: "instance metadata token"
};
// The body of a 200 answer. NotFound for 404, Unavailable for any other status.
base::Task<base::Result<std::string>> ask_locally(LocalQuestion question);

}  // namespace millwright::cloud
