#include "app/asking/remote.hpp"

#include "millwright/base/version.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace millwright::app {
namespace {

std::string default_kubeconfig() {
  if (const char* path = std::getenv("KUBECONFIG"); path && *path != '\0') {
    return path;
  }
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "") + "/.kube/config";
}

base::Result<std::string> read_certificates(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return base::fail(base::ErrorKind::NotFound,
                      "--certificate-authority: cannot read " + path +
                          "; write ca.crt of Secret millwright-certs there");
  }
  return text.str();
}

base::Task<void> send(base::RealLoop& loop, kube::Transport& transport, kube::ApiRequest request,
                      base::Result<net::Response>& answer) {
  answer = co_await transport.call(std::move(request), {});
  loop.stop();
}

}  // namespace

std::string kubeconfig_path(const RemoteServer& server) {
  return server.kubeconfig.empty() ? default_kubeconfig() : server.kubeconfig;
}

base::Result<kube::Config> config_of(const RemoteServer& server) {
  if (!server.url.starts_with("https://")) {
    return base::fail(base::ErrorKind::Invalid,
                      "--server: must begin with https://, since a token is sent there");
  }
  kube::Config config;
  if (server.token_file.empty()) {
    const std::string path = kubeconfig_path(server);
    MW_TRY(user, kube::load_kubeconfig(path, server.context));
    config.token = std::move(user.token);
    config.token_file = std::move(user.token_file);
    config.exec = std::move(user.exec);
    if (config.token.empty() && config.token_file.empty() && !config.exec) {
      return base::fail(base::ErrorKind::Invalid,
                        path +
                            ": its user has no token; write one of `kubectl create token` to a "
                            "file and give --token-file");
    }
  } else {
    config.token_file = server.token_file;
  }
  if (!server.certificate_authority.empty()) {
    MW_TRY(certificates, read_certificates(server.certificate_authority));
    config.tls.ca_pem = std::move(certificates);
  }
  config.server = server.url;
  while (config.server.ends_with('/')) {
    config.server.pop_back();
  }
  return config;
}

std::string path_of(const Question& question, const std::string& output) {
  std::string path = "/why/";
  switch (question.kind) {
    case AskedKind::Pod:
      path += "pod/" + net::url_encode(question.namespace_) + "/";
      break;
    case AskedKind::Node:
      path += "node/";
      break;
    case AskedKind::NodePool:
      path += "nodepool/";
      break;
  }
  return path + net::url_encode(question.name) + "?output=" + output;
}

base::Result<std::shared_ptr<kube::Transport>> connect(base::Loop& loop,
                                                       const RemoteServer& server) {
  MW_TRY(config, config_of(server));
  return kube::make_transport(loop, std::move(config), base::Logger(),
                              std::string("millwright/") + base::version());
}

kube::ApiRequest get_request(std::string_view path) {
  kube::ApiRequest request;
  request.path = path;
  return request;
}

base::Result<net::Response> fetch(std::string_view path, const RemoteServer& server) {
  base::RealLoop loop;
  MW_TRY(transport, connect(loop, server));
  base::Result<net::Response> answer =
      base::fail(base::ErrorKind::Internal, "the loop ended without an answer");
  base::TaskGroup group(loop);
  group.spawn(send(loop, *transport, get_request(path), answer));
  loop.run();
  return answer;
}

base::Result<Reply> reply_of(const base::Result<net::Response>& answer,
                             const RemoteServer& server) {
  if (!answer) {
    return base::fail(answer.error().kind, server.url + ": " + answer.error().message);
  }
  if (answer->status != 200 && answer->status != 404) {
    return base::fail(base::ErrorKind::Unavailable,
                      server.url + " answers " + std::to_string(answer->status) + ": " +
                          answer->body.substr(0, answer->body.find('\n')));
  }
  return Reply{answer->status == 200, answer->body};
}

base::Result<Reply> ask_remotely(const Question& question, const std::string& output,
                                 const RemoteServer& server) {
  return reply_of(fetch(path_of(question, output), server), server);
}

}  // namespace millwright::app
