// What CCE, ECS, VPC, BSS, IAM and the metadata service of Huawei Cloud answer, through the calls
// that read it. The first answer is what the fuzzer made up; later ones are empty.
#include "cloud/huawei/calls/nodes.hpp"
#include "cloud/huawei/calls/operations.hpp"
#include "cloud/huawei/catalog/capacity.hpp"
#include "cloud/huawei/keys/credentials.hpp"
#include "fuzz/answers.hpp"
#include "unit/cloud/huawei/fakes/fake_keys.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

class Asking {
 public:
  explicit Asking(Input input)
      : loop(kStart),
        http(loop),
        endpoints(test_endpoints()),
        api({.loop = loop,
             .client = http,
             .endpoints = endpoints,
             .credentials = &keys,
             .project = "p1",
             .log = {},
             .seed = 1}),
        nodes(api, "c1") {
    http.script(
        {net::Response::text(input.status, std::move(input.body)), net::Response::json(200, "{}")});
  }

  base::VirtualLoop loop;
  FakeHttp http;
  FixedKeys keys;
  Endpoints endpoints;
  Api api;
  CceNodes nodes;
};

void read_flavors(Asking& asking) {
  const auto flavors = wait(asking.loop, list_flavors(asking.api));
  expect_explained(flavors);
  for (const auto& flavor : flavors.value_or(std::vector<Flavor>{})) {
    const NodeClassSpec spec;
    overhead_of(flavor, spec, capacity_of(flavor, spec));
  }
}

// A node without a uid could neither be found again nor ended.
void expect_uid(const ApiResult<CceNode>& node) {
  expect_explained(node);
  if (node && node->uid.empty()) {
    __builtin_trap();
  }
}

void find_keys(Asking& asking, unsigned choice, const std::string& text) {
  FakeMachine machine;
  machine.variables["HOME"] = "/h";
  if (choice % 3 == 0) {
    machine.files["/h/.huaweicloud/credentials"] = text;
  } else if (choice % 3 == 1) {
    machine.files["/token"] = "t";
    machine.variables["HUAWEICLOUD_SDK_IDP_ID"] = "i";
    machine.variables["HUAWEICLOUD_SDK_ID_TOKEN_FILE"] = "/token";
    machine.variables["HUAWEICLOUD_SDK_PROJECT_ID"] = "p1";
  }
  CredentialChain chain({.loop = asking.loop,
                         .client = asking.http,
                         .environment = machine.environment(),
                         .iam_url = "https://iam",
                         .log = {}});
  const auto found = wait(asking.loop, chain.get());
  expect_explained(found);
  if (found && (found->access_key_id.empty() || found->secret_access_key.empty())) {
    __builtin_trap();
  }
}

void ask(Input input) {
  constexpr unsigned kQuestions = 12;
  const unsigned choice = input.choice % kQuestions;
  const unsigned rest = input.choice / kQuestions;
  const std::string body = input.body;
  Asking asking(std::move(input));
  auto& loop = asking.loop;
  switch (choice) {
    case 0:
      return read_flavors(asking);
    case 1:
      return expect_explained(wait(loop, list_zones(asking.api)));
    case 2:
      return expect_explained(wait(loop, list_subnets(asking.api)));
    case 3:
      return expect_explained(wait(loop, list_prices(asking.api, {"c9.large.4", "c9.xlarge.4"})));
    case 4:
      return expect_uid(wait(loop, asking.nodes.create(boost::json::object{})));
    case 5:
      return expect_uid(wait(loop, asking.nodes.get("u1")));
    case 6: {
      const auto listed = wait(loop, asking.nodes.list());
      expect_explained(listed);
      for (const auto& node : listed.value_or(std::vector<CceNode>{})) {
        expect_uid(node);
      }
      return;
    }
    case 7:
      return rest % 2 == 0 ? expect_explained(wait(loop, asking.nodes.remove("u1")))
                           : expect_explained(wait(loop, asking.nodes.job_failure("j1")));
    case 8:
      return expect_explained(wait(loop, asking.api.domain()));
    case 9:
      return expect_explained(parse_temporary_keys(body, "keys"));
    default:
      return find_keys(asking, rest, body);
  }
}

}  // namespace
}  // namespace millwright::cloud::huawei

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::cloud::huawei::ask({data, size});
  return 0;
}
