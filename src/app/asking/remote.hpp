// Asks a running controller on its asking port, with the caller's own token.
#pragma once

#include "app/asking/answer.hpp"
#include "millwright/base/result.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/kube/transport.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace millwright::app {

struct RemoteServer {
  std::string url;         // "https://host:port"
  std::string kubeconfig;  // whose user asks; empty: $KUBECONFIG, then ~/.kube/config
  std::string context;
  std::string token_file;             // in place of a kubeconfig
  std::string certificate_authority;  // a file; empty: the system's trust store
};

// The file whose user asks: what is given, $KUBECONFIG, or ~/.kube/config.
std::string kubeconfig_path(const RemoteServer& server);
// How to reach the server. Only a token is ever sent, and only over HTTPS: of the kubeconfig's user
// its passwords and client certificates are left out.
base::Result<kube::Config> config_of(const RemoteServer& server);

// "/why/pod/NAMESPACE/NAME?output=text"
std::string path_of(const Question& question, const std::string& output);

// Requests there carry the token.
base::Result<std::shared_ptr<kube::Transport>> connect(base::Loop& loop,
                                                       const RemoteServer& server);
kube::ApiRequest get_request(std::string_view path);
// One question; blocks until it is answered.
base::Result<net::Response> fetch(std::string_view path, const RemoteServer& server);

struct Reply {
  bool known = false;  // 200, not 404
  std::string text;
};
// What any other status says, as an error that names the server.
base::Result<Reply> reply_of(const base::Result<net::Response>& answer, const RemoteServer& server);

// Blocks. `output` is "text" or "json".
base::Result<Reply> ask_remotely(const Question& question, const std::string& output,
                                 const RemoteServer& server);

}  // namespace millwright::app
