#include "kube/config/kubeconfig_entry.hpp"

#include "kube/config/files.hpp"
#include "millwright/base/base64.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <utility>

namespace millwright::kube {

namespace json = boost::json;

const json::value* Entry::find(std::string_view field) const {
  const auto* found = fields_->if_contains(field);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool Entry::has(std::string_view field) const {
  return find(field) != nullptr;
}

tl::unexpected<base::Error> Entry::invalid(std::string_view field, std::string_view problem) const {
  std::string message = label_;
  message.append(label_.empty() ? "" : ": ").append(field).append(" ").append(problem);
  return base::fail(base::ErrorKind::Invalid, std::move(message));
}

base::Result<std::string> Entry::text(std::string_view field) const {
  const auto* found = find(field);
  if (found == nullptr) {
    return std::string();
  }
  if (!found->is_string()) {
    return invalid(field, "is not a string; put it in quotes");
  }
  return std::string(found->get_string());
}

base::Result<bool> Entry::flag(std::string_view field) const {
  const auto* found = find(field);
  if (found == nullptr) {
    return false;
  }
  if (!found->is_bool()) {
    return invalid(field, "is neither true nor false");
  }
  return found->get_bool();
}

base::Result<const json::array*> Entry::list(std::string_view field) const {
  const auto* found = find(field);
  if (found == nullptr) {
    return nullptr;
  }
  if (!found->is_array()) {
    return invalid(field, "is not a list");
  }
  return &found->get_array();
}

base::Result<std::vector<std::string>> Entry::texts(std::string_view field) const {
  MW_TRY(items, list(field));
  std::vector<std::string> all;
  if (items != nullptr) {
    for (const auto& item : *items) {
      if (!item.is_string()) {
        return invalid(field, "has an item that is not a string; put it in quotes");
      }
      all.emplace_back(item.get_string());
    }
  }
  return all;
}

base::Result<std::optional<Entry>> Entry::mapping(std::string_view field) const {
  const auto* found = find(field);
  if (found == nullptr) {
    return std::optional<Entry>();
  }
  if (!found->is_object()) {
    return invalid(field, "is not a mapping");
  }
  return std::optional<Entry>(
      Entry(label_ + ": " + std::string(field), found->get_object(), directory_));
}

base::Result<std::string> Entry::data(const std::string& field, std::string_view pem_label) const {
  MW_TRY(encoded, text(field + "-data"));
  MW_TRY(path, text(field));
  std::string origin = field + "-data";
  std::string pem;
  if (!encoded.empty()) {
    auto decoded = base::decode_base64(encoded);
    if (!decoded) {
      return invalid(origin, "cannot be used: " + decoded.error().message);
    }
    pem = *std::move(decoded);
  } else if (!path.empty()) {
    origin = field;
    auto content = read_file(resolve_path(directory_, path));
    if (!content) {
      return invalid(origin, "cannot be used: " + content.error().message);
    }
    pem = *std::move(content);
  } else {
    return std::string();
  }
  if (!has_pem(pem, pem_label)) {
    return invalid(origin, "has no PEM block of the kind " + std::string(pem_label));
  }
  return pem;
}

base::Result<std::optional<ExecPlugin>> read_exec(const Entry& user) {
  MW_TRY(entry, user.mapping("exec"));
  if (!entry) {
    return std::optional<ExecPlugin>();
  }
  ExecPlugin plugin;
  MW_TRY(command, entry->text("command"));
  MW_TRY(api_version, entry->text("apiVersion"));
  MW_TRY(args, entry->texts("args"));
  MW_TRY(variables, entry->list("env"));
  MW_TRY(hint, entry->text("installHint"));
  MW_TRY(cluster_info, entry->flag("provideClusterInfo"));
  MW_TRY(interactive, entry->text("interactiveMode"));
  if (command.empty()) {
    return entry->invalid("command", "is missing");
  }
  if (api_version != "client.authentication.k8s.io/v1" &&
      api_version != "client.authentication.k8s.io/v1beta1") {
    return entry->invalid("apiVersion",
                          "must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/"
                          "v1beta1; update the plugin's configuration");
  }
  if (interactive == "Always") {
    return entry->invalid("interactiveMode", "is Always, but there is nobody to ask here");
  }
  if (variables != nullptr) {
    for (const auto& item : *variables) {
      const auto* fields = item.if_object();
      const auto* name = fields != nullptr ? fields->if_contains("name") : nullptr;
      const auto* value = fields != nullptr ? fields->if_contains("value") : nullptr;
      if (name == nullptr || value == nullptr || !name->is_string() || !value->is_string() ||
          name->get_string().empty() || name->get_string().find('=') != json::string::npos) {
        return entry->invalid("env", "has an item that is not a name and a value, both strings");
      }
      plugin.env[std::string(name->get_string())] = std::string(value->get_string());
    }
  }
  // As with kubectl: a path with a slash starts at the file's directory, a bare name at PATH.
  plugin.command = command.find('/') == std::string::npos
                       ? std::move(command)
                       : resolve_path(entry->directory(), command);
  plugin.api_version = std::move(api_version);
  plugin.args = std::move(args);
  plugin.install_hint = std::move(hint);
  plugin.provide_cluster_info = cluster_info;
  return std::optional<ExecPlugin>(std::move(plugin));
}

}  // namespace millwright::kube
