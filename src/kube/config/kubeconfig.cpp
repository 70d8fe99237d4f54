// Kubeconfig files as kubectl reads them ("Organizing Cluster Access Using kubeconfig Files").
// Every refusal names the entry and the field; no message ever shows a value, since values here
// are secrets as often as not.
#include "kube/config/files.hpp"
#include "kube/config/kubeconfig_entry.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/model/codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace millwright::kube {
namespace {

namespace json = boost::json;
using base::ErrorKind;

struct Source {
  json::value root;
  std::string directory;
};

base::Result<Source> parse_source(std::string_view yaml, const std::string& directory) {
  MW_TRY(documents, model::parse_yaml(yaml));
  if (documents.empty()) {
    return base::fail(ErrorKind::Invalid, "the file is empty");
  }
  if (documents.size() > 1) {
    return base::fail(ErrorKind::Invalid, "the file has more than one YAML document");
  }
  if (!documents[0].is_object()) {
    return base::fail(ErrorKind::Invalid, "the file is not a mapping");
  }
  const Entry root("", documents[0].get_object(), directory);
  MW_TRY(kind, root.text("kind"));
  if (!kind.empty() && kind != "Config") {
    return base::fail(ErrorKind::Invalid, "kind is " + kind + ", not Config");
  }
  return Source{.root = std::move(documents[0]), .directory = directory};
}

// The entry called `name` of the list `section` ("clusters"), from the first source that has it.
base::Result<Entry> find_entry(const std::vector<Source>& sources, const std::string& section,
                               const std::string& field, const std::string& name) {
  std::string known;
  for (const auto& source : sources) {
    const auto* list = source.root.get_object().if_contains(section);
    if (list == nullptr || list->is_null()) {
      continue;
    }
    if (!list->is_array()) {
      return base::fail(ErrorKind::Invalid, section + " is not a list");
    }
    for (const auto& item : list->get_array()) {
      const auto* found = item.is_object() ? item.get_object().if_contains("name") : nullptr;
      if (found == nullptr || !found->is_string()) {
        return base::fail(ErrorKind::Invalid, section + " has an entry without a name");
      }
      const std::string item_name(found->get_string());
      known.append(known.empty() ? "" : ", ").append(item_name);
      if (item_name != name) {
        continue;
      }
      const auto* body = item.get_object().if_contains(field);
      if (body == nullptr || !body->is_object()) {
        return base::fail(ErrorKind::Invalid,
                          section + " \"" + name + "\": " + field + " is missing or no mapping");
      }
      return Entry(field + " \"" + name + "\"", body->get_object(), source.directory);
    }
  }
  return base::fail(ErrorKind::Invalid, field + " \"" + name + "\" does not exist; known: " +
                                            (known.empty() ? "none" : known));
}

base::Result<std::string> check_server(const Entry& cluster) {
  MW_TRY(server, cluster.text("server"));
  if (server.empty()) {
    return cluster.invalid("server", "is missing");
  }
  while (server.ends_with('/')) {
    server.pop_back();
  }
  const auto host = server.starts_with("https://")  ? server.substr(8)
                    : server.starts_with("http://") ? server.substr(7)
                                                    : std::string();
  const bool clean = std::ranges::none_of(
      host, [](unsigned char c) { return c <= 0x20 || c == '@' || c == '?' || c == '#'; });
  if (host.empty() || host.front() == '/' || host.front() == ':' || !clean) {
    return cluster.invalid("server", "is not an address like https://host:6443");
  }
  return server;
}

base::Result<> read_cluster(const Entry& cluster, Config& config) {
  MW_TRY(server, check_server(cluster));
  MW_TRY(insecure, cluster.flag("insecure-skip-tls-verify"));
  MW_TRY(ca, cluster.data("certificate-authority", "CERTIFICATE"));
  MW_TRY(server_name, cluster.text("tls-server-name"));
  MW_TRY(proxy, cluster.text("proxy-url"));
  if (!proxy.empty()) {
    return cluster.invalid("proxy-url",
                           "is not supported; set HTTPS_PROXY in the environment instead");
  }
  if (insecure && !ca.empty()) {
    return cluster.invalid("insecure-skip-tls-verify",
                           "and certificate-authority exclude each other; remove one");
  }
  config.server = std::move(server);
  config.tls.ca_pem = std::move(ca);
  config.tls.server_name = std::move(server_name);
  config.tls.insecure_skip_verify = insecure;
  return {};
}

base::Result<> read_user(const Entry& user, Config& config) {
  for (const char* field : {"auth-provider", "as", "as-uid", "as-groups", "as-user-extra"}) {
    if (user.has(field)) {
      return user.invalid(field, std::string(field) == "auth-provider"
                                     ? "is not supported; use an exec plugin"
                                     : "is not supported; use a user with rights of its own");
    }
  }
  MW_TRY(certificate, user.data("client-certificate", "CERTIFICATE"));
  MW_TRY(key, user.data("client-key", "PRIVATE KEY"));
  if (certificate.empty() != key.empty()) {
    return user.invalid(certificate.empty() ? "client-certificate" : "client-key", "is missing");
  }
  MW_TRY(token, user.text("token"));
  MW_TRY(token_file, user.text("tokenFile"));
  MW_TRY(username, user.text("username"));
  MW_TRY(password, user.text("password"));
  if (username.empty() && !password.empty()) {
    return user.invalid("username", "is missing beside password");
  }
  if (!username.empty() && !(token.empty() && token_file.empty())) {
    return user.invalid("username", "and token exclude each other; remove one");
  }
  if (!token.empty()) {
    auto clean = clean_token(token);
    if (!clean) {
      return user.invalid("token", "cannot be used: " + clean.error().message);
    }
    token = *std::move(clean);
  }
  MW_TRY(plugin, read_exec(user));
  config.tls.certificate_pem = std::move(certificate);
  config.tls.key_pem = std::move(key);
  config.token = std::move(token);
  config.token_file = resolve_path(user.directory(), token_file);
  config.username = std::move(username);
  config.password = std::move(password);
  config.exec = std::move(plugin);
  return {};
}

base::Result<std::string> choose_context(const std::vector<Source>& sources,
                                         const std::string& wanted) {
  if (!wanted.empty()) {
    return wanted;
  }
  for (const auto& source : sources) {
    const Entry root("", source.root.get_object(), source.directory);
    MW_TRY(current, root.text("current-context"));
    if (!current.empty()) {
      return current;
    }
  }
  return base::fail(ErrorKind::Invalid, "current-context is missing; set it or choose a context");
}

base::Result<Config> resolve(const std::vector<Source>& sources, const std::string& wanted) {
  MW_TRY(name, choose_context(sources, wanted));
  MW_TRY(context, find_entry(sources, "contexts", "context", name));
  MW_TRY(cluster_name, context.text("cluster"));
  MW_TRY(user_name, context.text("user"));
  MW_TRY(ns, context.text("namespace"));
  if (cluster_name.empty()) {
    return context.invalid("cluster", "is missing");
  }
  Config config;
  if (!ns.empty()) {
    config.namespace_ = std::move(ns);
  }
  MW_TRY(cluster, find_entry(sources, "clusters", "cluster", cluster_name));
  if (auto read = read_cluster(cluster, config); !read) {
    return tl::unexpected(std::move(read).error());
  }
  if (!user_name.empty()) {
    MW_TRY(user, find_entry(sources, "users", "user", user_name));
    if (auto read = read_user(user, config); !read) {
      return tl::unexpected(std::move(read).error());
    }
  }
  return config;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

base::Result<Config> parse_kubeconfig(std::string_view yaml, const std::string& directory,
                                      const std::string& context) {
  auto source = parse_source(yaml, directory);
  if (!source) {
    return base::with_context("kubeconfig", std::move(source).error());
  }
  std::vector<Source> sources;
  sources.push_back(*std::move(source));
  auto config = resolve(sources, context);
  if (!config) {
    return base::with_context("kubeconfig", std::move(config).error());
  }
  return config;
}

base::Result<Config> load_kubeconfig(const std::string& path, const std::string& context) {
  std::vector<Source> sources;
  std::string_view rest = path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const std::string file(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (file.empty()) {
      continue;
    }
    auto text = read_file(file);
    if (!text && text.error().kind == ErrorKind::NotFound && file != path) {
      continue;
    }
    if (!text) {
      return base::with_context("kubeconfig", std::move(text).error());
    }
    auto source = parse_source(*text, directory_of(file));
    if (!source) {
      return base::with_context("kubeconfig " + file, std::move(source).error());
    }
    sources.push_back(*std::move(source));
  }
  if (sources.empty()) {
    return base::fail(ErrorKind::NotFound, "kubeconfig: there is no file at \"" + path + "\"");
  }
  auto config = resolve(sources, context);
  if (!config) {
    return base::with_context("kubeconfig " + path, std::move(config).error());
  }
  return config;
}

}  // namespace millwright::kube
