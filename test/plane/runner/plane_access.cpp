// How a plane is talked to: kubeconfigs, kubectl, and the API by hand.
#include "millwright/base/base64.hpp"
#include "plane/runner/plane.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::plane {

void Plane::write_kubeconfig(const std::string& path, const certs::KeyPair& identity) {
  write_kubeconfig(path, fmt::format("client-certificate-data: {}\n    client-key-data: {}",
                                     base::encode_base64(identity.certificate_pem),
                                     base::encode_base64(identity.key_pem)));
}

void Plane::write_kubeconfig(const std::string& path, const std::string& credentials) {
  write_text(path,
             fmt::format("apiVersion: v1\nkind: Config\ncurrent-context: plane\n"
                         "contexts: [{{name: plane, context: {{cluster: plane, user: user}}}}]\n"
                         "clusters:\n- name: plane\n  cluster:\n    server: {}\n"
                         "    certificate-authority-data: {}\n"
                         "users:\n- name: user\n  user:\n    {}\n",
                         url_, base::encode_base64(bundle_.ca.certificate_pem), credentials));
}

base::Result<std::string> Plane::kubeconfig_of_account(const std::string& namespace_,
                                                       const std::string& name) {
  constexpr int kDay = 86'400;
  const json::object request{{"apiVersion", "authentication.k8s.io/v1"},
                             {"kind", "TokenRequest"},
                             {"spec", {{"expirationSeconds", kDay}}}};
  const Answer answer =
      call("POST", fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}/token", namespace_, name),
           request);
  const std::string token = text_at(answer.body, "/status/token");
  if (token.empty()) {
    return base::fail(base::ErrorKind::Unavailable,
                      fmt::format("no token of ServiceAccount {}/{}: {} {}", namespace_, name,
                                  answer.status, json::serialize(answer.body)));
  }
  const std::string path = fmt::format("{}/{}-{}.kubeconfig", directory_, namespace_, name);
  write_kubeconfig(path, "token: " + token);
  return path;
}

std::string Plane::kubeconfig_of(const std::string& user, const std::vector<std::string>& groups) {
  const certs::Validity validity{.not_before = base::system_now() - std::chrono::minutes(5),
                                 .not_after = base::system_now() + std::chrono::hours(240)};
  std::string file = user;
  std::replace(file.begin(), file.end(), ':', '_');
  const std::string path = directory_ + "/" + file + ".kubeconfig";
  const auto identity = certs::make_client_leaf(bundle_.ca, user, groups, validity);
  if (identity) {
    write_kubeconfig(path, *identity);
  }
  return path;
}

Output Plane::kubectl(const std::vector<std::string>& arguments, const std::string& input) {
  const std::string base = fmt::format("{}/kubectl-{}", directory_, ++inputs_);
  std::vector<std::string> all{"--kubeconfig=" + kubeconfig(),
                               "--cache-dir=" + directory_ + "/cache"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  if (!input.empty()) {
    write_text(base + ".in", input);
  }
  Output output;
  const auto process = Process::start({.program = program("kubectl"),
                                       .arguments = std::move(all),
                                       .environment = {{"HOME", directory_}},
                                       .log = base + ".out",
                                       .input = input.empty() ? std::string() : base + ".in"});
  if (!process) {
    output.text = process.error().message;
    return output;
  }
  output.exit_code = (*process)->wait(milliseconds(120'000)).value_or(-1);
  output.text = (*process)->log_text();
  return output;
}

Answer Plane::call(const std::string& method, const std::string& path, const json::value& body,
                   const std::string& content_type) {
  net::ClientRequest request;
  request.method = method;
  request.url = url_ + path;
  if (!body.is_null()) {
    request.body = json::serialize(body);
    request.headers.set("Content-Type", content_type);
  }
  const auto response = client_->send_blocking(std::move(request));
  if (!response) {
    return {};
  }
  boost::system::error_code error;
  Answer answer{.status = response->status, .body = json::parse(response->body, error)};
  if (error) {
    answer.body = json::string(response->body);
  }
  return answer;
}

std::vector<json::value> Plane::list(const std::string& path) {
  const Answer answer = call("GET", path);
  const auto* items =
      answer.body.is_object() ? answer.body.as_object().if_contains("items") : nullptr;
  if (items == nullptr || !items->is_array()) {
    return {};
  }
  return {items->as_array().begin(), items->as_array().end()};
}

}  // namespace millwright::plane
