#include "cloud/alibaba/launch/user_data.hpp"

#include "cloud/common/text/digest.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/base/base64.hpp"

#include <boost/json.hpp>

#include <vector>

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;

constexpr std::string_view kUnregistered = "karpenter.sh/unregistered";
// By general knowledge ECS takes 32 KB before encoding.
constexpr std::size_t kMostUserData = 32U << 10;

// Labels and taints become words of a shell command.
bool is_shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
  return text.find_first_not_of(kPlain) == std::string_view::npos;
}

base::Result<std::string> labels_of_node(const UserDataInput& input) {
  std::string text = "k8s.aliyun.com=true,ack.aliyun.com=" + input.cluster_id;
  for (const auto& [key, value] : input.claim.meta.labels) {
    if (!is_shell_word(key) || !is_shell_word(value)) {
      return base::fail(ErrorKind::Invalid, "NodeClaim " + input.claim.meta.name + ": label \"" +
                                                key + "\" cannot be given to a kubelet");
    }
    text.append(",").append(key).append("=").append(value);
  }
  return text;
}

base::Result<std::string> taints_of_node(const model::NodeClaim& claim) {
  std::string text;
  const auto add = [&text](std::string_view key, std::string_view value, std::string_view effect) {
    text.append(text.empty() ? "" : ",").append(key).append("=").append(value);
    text.append(":").append(effect);
  };
  for (const auto* taints : {&claim.taints, &claim.startup_taints}) {
    for (const auto& taint : *taints) {
      if (!is_shell_word(taint.key) || !is_shell_word(taint.value)) {
        return base::fail(ErrorKind::Invalid, "NodeClaim " + claim.meta.name + ": taint \"" +
                                                  taint.key + "\" cannot be given to a kubelet");
      }
      add(taint.key, taint.value, taint.effect);
    }
  }
  add(kUnregistered, "", "NoExecute");
  return text;
}

// {"kubelet_config": {...}}, with the kubelet's own names.
std::string node_config(const Kubelet& kubelet) {
  boost::json::object settings = kubelet.all;
  return base::encode_base64(
      boost::json::serialize(boost::json::object{{"kubelet_config", std::move(settings)}}));
}

// Scripts run in the order of parts.
std::string mime(const std::vector<std::string>& scripts) {
  std::string all;
  for (const auto& script : scripts) {
    all += script;
  }
  const auto boundary = "millwright-" + to_hex(sha256(all)).substr(0, 16);
  std::string text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + boundary;
  text += "\"\n\n";
  for (const auto& script : scripts) {
    text.append("--").append(boundary);
    text.append("\nContent-Type: text/x-shellscript; charset=\"utf-8\"\n\n");
    text.append(script).append(script.ends_with('\n') ? "" : "\n");
  }
  return text.append("--").append(boundary).append("--\n");
}

}  // namespace

base::Result<std::string> make_user_data(const UserDataInput& input) {
  MW_TRY(labels, labels_of_node(input));
  MW_TRY(taints, taints_of_node(input.claim));
  std::string script(trimmed(input.attach_script));
  if (!script.starts_with("#!")) {
    script.insert(0, "#!/bin/sh\n");
  }
  script.append(" --labels ").append(labels);
  script.append(" --taints ").append(taints);
  if (!input.spec.kubelet.all.empty()) {
    script.append(" --node-config ").append(node_config(input.spec.kubelet));
  }
  script += '\n';
  const auto& own = input.spec.user_data;
  std::string result = std::move(script);
  if (!own.empty()) {
    if (lower_case(own.substr(0, own.find('\n'))).starts_with("mime-version") ||
        lower_case(own).find("content-type: multipart") != std::string::npos) {
      return base::fail(ErrorKind::Invalid, "ECSNodeClass " + input.spec.name +
                                                ": spec.userData: MIME parts are not supported; "
                                                "give one shell script");
    }
    const std::string first_line = own.starts_with("#") ? "" : "#!/bin/sh\n";
    result = mime({result, first_line + own});
  }
  if (result.size() > kMostUserData) {
    return base::fail(ErrorKind::Invalid, "ECSNodeClass " + input.spec.name +
                                              ": spec.userData is too long: with what joins the "
                                              "cluster it must stay within 32 KB");
  }
  return result;
}

}  // namespace millwright::cloud::alibaba
