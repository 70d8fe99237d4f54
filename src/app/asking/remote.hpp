// Asks a running controller on its asking port, with the caller's own token.
#pragma once

#include "app/asking/answer.hpp"
#include "millwright/base/result.hpp"
#include "millwright/kube/config.hpp"

#include <string>

namespace millwright::app {

struct RemoteServer {
  std::string url;         // "https://host:port"
  std::string kubeconfig;  // whose user asks; empty: $KUBECONFIG, then ~/.kube/config
  std::string context;
  std::string token_file;             // in place of a kubeconfig
  std::string certificate_authority;  // a file; empty: the system's trust store
};

// How to reach the server. Only a token is ever sent, and only over HTTPS: of the kubeconfig's user
// its passwords and client certificates are left out.
base::Result<kube::Config> config_of(const RemoteServer& server);

// "/why/pod/NAMESPACE/NAME?output=text"
std::string path_of(const Question& question, const std::string& output);

struct Reply {
  bool known = false;
  std::string text;
};
// Blocks. `output` is "text" or "json".
base::Result<Reply> ask_remotely(const Question& question, const std::string& output,
                                 const RemoteServer& server);

}  // namespace millwright::app
