#include "cloud/alibaba/calls/cs.hpp"

#include "cloud/alibaba/calls/wire/answer.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::alibaba {
namespace {

namespace json = boost::json;

// "meta_data" is JSON inside a text; Capabilities.Network names the CNI.
std::string network_add_on_of(std::string_view meta_data) {
  const auto meta = model::parse_json(meta_data);
  return meta ? std::string(model::text_at(*meta, "Capabilities.Network")) : std::string();
}

Network network_of(std::string_view add_on) {
  const auto name = lower_case(add_on);
  if (name.find("terway") != std::string::npos) {
    return Network::Terway;
  }
  return name.find("flannel") != std::string::npos ? Network::Flannel : Network::Other;
}

Image read_metadata_image(Answer& answer, const json::value& item) {
  const auto arch = answer.optional_text(item, "architecture");
  return {.id = answer.text(item, "image_id"),
          .name = answer.optional_text(item, "image_name"),
          .arch = arch == "arm64" ? "arm64" : "amd64",
          .created = {},
          .owner_id = {}};
}

}  // namespace

base::Task<ApiResult<ClusterFacts>> Cs::cluster(std::string id) {
  RoaCall call;
  call.action = "DescribeClusterDetail";
  call.path = "/clusters/" + net::url_encode(id);
  MW_CO_TRY(answered, co_await api_.roa(Service::Cs, std::move(call)));
  Answer answer;
  ClusterFacts facts;
  facts.version = answer.text(answered, "current_version");
  facts.network_add_on = network_add_on_of(answer.optional_text(answered, "meta_data"));
  facts.network = network_of(facts.network_add_on);
  if (!answer.is_good()) {
    co_return tl::unexpected(bad_answer("cs DescribeClusterDetail", answer.problem()));
  }
  co_return facts;
}

base::Task<ApiResult<bool>> Cs::has_trunks(std::string cluster_id, std::string add_on) {
  RoaCall call;
  call.action = "GetClusterAddonInstance";
  call.path =
      "/clusters/" + net::url_encode(cluster_id) + "/addon_instances/" + net::url_encode(add_on);
  auto answered = co_await api_.roa(Service::Cs, std::move(call));
  if (!answered && answered.error().kind == base::ErrorKind::NotFound) {
    co_return false;  // Terway was installed otherwise
  }
  MW_CO_TRY(found, std::move(answered));
  // "config" is JSON inside a text, too; empty when nothing was configured.
  Answer answer;
  answer.text(found, "name");
  const auto config = model::parse_json(answer.optional_text(found, "config"));
  if (!answer.is_good()) {
    co_return tl::unexpected(bad_answer("cs GetClusterAddonInstance", answer.problem()));
  }
  const auto* value = config ? model::member(*config, "ENITrunking") : nullptr;
  const bool is_true = value != nullptr && value->is_bool() && value->get_bool();
  co_return is_true || lower_case(model::as_text(value)) == "true";
}

base::Task<ApiResult<std::vector<Image>>> Cs::images(std::string kubernetes) {
  const std::string name = "cs DescribeKubernetesVersionMetadata";
  RoaCall call;
  call.action = "DescribeKubernetesVersionMetadata";
  call.path = "/api/v1/metadata/versions";
  call.query.set("Region", api_.endpoints().region()).set("ClusterType", "ManagedKubernetes");
  call.query.set("KubernetesVersion", kubernetes);
  MW_CO_TRY(answered, co_await api_.roa(Service::Cs, std::move(call)));
  if (!answered.is_array()) {
    co_return tl::unexpected(bad_answer(name, "no list"));
  }
  Answer answer;
  std::vector<Image> found;
  for (const auto& version : answered.get_array()) {
    const auto* images = model::member(version, "images");
    const auto* items = images == nullptr ? nullptr : images->if_array();
    if (items == nullptr) {
      answer.note("images", "is missing or no list");
      continue;
    }
    for (const auto& item : *items) {
      found.push_back(read_metadata_image(answer, item));
    }
  }
  if (!answer.is_good()) {
    co_return tl::unexpected(bad_answer(name, answer.problem()));
  }
  co_return found;
}

base::Task<ApiResult<std::string>> Cs::attach_script(AttachQuestion question) {
  RoaCall call;
  call.action = "DescribeClusterAttachScripts";
  call.method = "POST";
  call.path = "/clusters/" + net::url_encode(question.cluster_id) + "/attachscript";
  call.text_answer = true;
  call.body = json::serialize(json::object{{"arch", question.arch},
                                           {"keep_instance_name", true},
                                           {"format_disk", question.format_disk}});
  MW_CO_TRY(answered, co_await api_.roa(Service::Cs, std::move(call)));
  // A page of a proxy is text, too.
  std::string script(trimmed(model::as_text(&answered)));
  std::erase_if(script, [](char c) { return c == '\r'; });
  if (script.find("curl") == std::string::npos || script.find("--token") == std::string::npos) {
    co_return tl::unexpected(
        bad_answer("cs DescribeClusterAttachScripts", "no script that joins a machine"));
  }
  co_return script;
}

}  // namespace millwright::cloud::alibaba
