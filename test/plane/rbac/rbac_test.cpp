// The audit logs of all planes that ran before (MILLWRIGHT_AUDIT names their folder), compared with
// the roles of `millwright install`: nothing that was called is forbidden, and nothing that is
// allowed was never called.

#include "millwright/app/install.hpp"
#include "millwright/model/codec.hpp"
#include "plane/runner/plane.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace millwright::plane {
namespace {

const std::string kAccounts = "system:serviceaccount:millwright-system:";

// What no test can make the program call, each with the reason. Everything else must be called.
const std::map<std::string, std::string>& uncalled() {
  static const std::map<std::string, std::string> reasons{
      {"patch /events",
       "an Event that comes again is counted up after two minutes, longer than any test lasts; the "
       "unit tests of kube show it"},
      {"patch karpenter.k8s.alibabacloud/ecsnodeclasses",
       "a plane's clouds are simulated, and those have no hash and no finalizer; the program of "
       "test/alibaba/stories writes both"},
      {"patch karpenter.alibabacloud.com/ecsnodeclasses", "the same"},
      {"patch karpenter.k8s.huawei/ccenodeclasses", "as for Alibaba Cloud; test/huawei/stories"}};
  return reasons;
}

struct Call {
  std::string account;
  std::string verb;
  std::string group;
  std::string resource;  // with its subresource
  std::string namespace_;
  std::string name;
  bool forbidden = false;
  auto operator<=>(const Call&) const = default;

  std::string to_string() const {
    return account + " " + verb + " " + group + "/" + resource + " " + namespace_ + "/" + name;
  }
};

std::optional<Call> call_of(const json::value& event) {
  const std::string user = text_at(event, "/user/username");
  if (!user.starts_with(kAccounts)) {
    return std::nullopt;
  }
  Call call;
  call.account = user.substr(kAccounts.size());
  call.verb = text_at(event, "/verb");
  call.group = text_at(event, "/objectRef/apiGroup");
  call.resource = text_at(event, "/objectRef/resource");
  if (const auto part = text_at(event, "/objectRef/subresource"); !part.empty()) {
    call.resource += "/" + part;
  }
  call.namespace_ = text_at(event, "/objectRef/namespace");
  call.name = text_at(event, "/objectRef/name");
  call.forbidden = text_at(event, "/annotations/authorization.k8s.io~1decision") == "forbid";
  return call;
}

// Each kind of call once.
std::set<Call> calls_in(const std::string& folder) {
  std::set<Call> calls;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream log(file.path());
    for (std::string line; std::getline(log, line);) {
      boost::system::error_code torn;  // the last line of a server that was killed
      const auto event = json::parse(line, torn);
      auto call = torn ? std::nullopt : call_of(event);
      if (call) {
        calls.insert(*call);
        // A server-side apply that makes an object is asked for both verbs and logged as one.
        boost::system::error_code none;
        const auto* code = event.find_pointer("/responseStatus/code", none);
        if (call->verb == "patch" && code != nullptr && *code == 201) {
          call->verb = "create";
          calls.insert(*std::move(call));
        }
      }
    }
  }
  return calls;
}

bool contains(const json::value& rule, const char* key, const std::string& text) {
  const auto* list = rule.as_object().if_contains(key);
  return list != nullptr && std::any_of(list->as_array().begin(), list->as_array().end(),
                                        [&](const auto& item) { return item.as_string() == text; });
}

// One verb on one resource, as one rule grants it.
struct Grant {
  std::string verb;
  std::string group;
  std::string resource;
  json::value rule;
  std::string namespace_;  // empty: of a ClusterRole

  std::string to_string() const {
    const auto* names = rule.as_object().if_contains("resourceNames");
    return verb + " " + group + "/" + resource +
           (names == nullptr ? "" : " " + json::serialize(*names));
  }
  bool allows(const Call& call) const {
    // A create cannot be limited to a name, nor a list to one object.
    const bool named = rule.as_object().contains("resourceNames");
    return call.account == "millwright" && call.verb == verb && call.group == group &&
           call.resource == resource && (namespace_.empty() || call.namespace_ == namespace_) &&
           (!named || contains(rule, "resourceNames", call.name));
  }
};

std::vector<Grant> grants() {
  app::InstallOptions options;
  options.simulated_clouds = {cloud::Profile::Kwok, cloud::Profile::Aws, cloud::Profile::Alibaba,
                              cloud::Profile::Huawei};
  const auto text = app::install_text(options);
  EXPECT_TRUE(text.has_value()) << text.error().message;
  std::vector<Grant> all;
  for (const auto& object :
       model::parse_yaml(text.value_or("")).value_or(std::vector<json::value>())) {
    const std::string kind = text_at(object, "/kind");
    if (kind != "Role" && kind != "ClusterRole") {
      continue;
    }
    for (const auto& rule : object.at("rules").as_array()) {
      for (const auto& group : rule.at("apiGroups").as_array()) {
        for (const auto& resource : rule.at("resources").as_array()) {
          for (const auto& verb : rule.at("verbs").as_array()) {
            all.push_back({.verb = std::string(verb.as_string()),
                           .group = std::string(group.as_string()),
                           .resource = std::string(resource.as_string()),
                           .rule = rule,
                           .namespace_ = text_at(object, "/metadata/namespace")});
          }
        }
      }
    }
  }
  return all;
}

class Rbac : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("MILLWRIGHT_AUDIT");  // NOLINT(concurrency-mt-unsafe)
    ASSERT_NE(folder, nullptr)
        << "MILLWRIGHT_AUDIT does not name the folder of audit logs: run scripts/test plane";
    calls_ = calls_in(folder);
    ASSERT_GT(calls_.size(), 50U) << "hardly anything was called: " << folder;
  }
  std::set<Call> calls_;
};

// An API server that was just started forbids what it has not read the roles of yet: only what no
// role of ours allows counts.
TEST_F(Rbac, NothingThatIsCalledIsForbidden) {
  const auto all = grants();
  for (const auto& call : calls_) {
    const bool granted =
        std::any_of(all.begin(), all.end(), [&](const Grant& grant) { return grant.allows(call); });
    EXPECT_TRUE(granted || !call.forbidden) << call.to_string();
  }
}

TEST_F(Rbac, NothingIsAllowedThatIsNeverCalled) {
  const auto all = grants();
  EXPECT_GT(all.size(), 50U);
  std::set<std::string> used_reasons;
  for (const auto& grant : all) {
    const bool called = std::any_of(calls_.begin(), calls_.end(), [&](const Call& call) {
      return !call.forbidden && grant.allows(call);
    });
    const auto reason = uncalled().find(grant.to_string());
    if (reason != uncalled().end()) {
      used_reasons.insert(reason->first);
    }
    EXPECT_EQ(called, reason == uncalled().end())
        << grant.to_string()
        << (called ? " is called: take it off the list above" : " was never called");
  }
  EXPECT_EQ(used_reasons.size(), uncalled().size()) << "the list above names what is not allowed";
}

}  // namespace
}  // namespace millwright::plane
