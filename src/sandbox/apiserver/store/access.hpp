// The store and the write rules of a server, for the rest of this module.
#pragma once

#include "millwright/sandbox/api_server.hpp"
#include "sandbox/apiserver/store/registry.hpp"

namespace millwright::sandbox {

struct ServerAccess {
  static Registry& registry(ApiServer& server);
  static Store& store(ApiServer& server) { return registry(server).store(); }
};

}  // namespace millwright::sandbox
