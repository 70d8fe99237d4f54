// What ECS, VPC, CS, STS and the metadata service of Alibaba Cloud answer, through the calls that
// read it. The first answer is what the fuzzer made up; later ones are empty.
#include "cloud/alibaba/calls/cs.hpp"
#include "cloud/alibaba/calls/ecs.hpp"
#include "cloud/alibaba/catalog/capacity.hpp"
#include "cloud/alibaba/catalog/catalog.hpp"
#include "cloud/alibaba/keys/credentials.hpp"
#include "cloud/alibaba/launch/launcher.hpp"
#include "cloud/alibaba/launch/user_data.hpp"
#include "cloud/alibaba/node_class/resolver.hpp"
#include "fuzz/answers.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cloud/alibaba/fakes/fake_answers.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::alibaba {
namespace {

class Asking {
 public:
  explicit Asking(Input input)
      : loop(kStart),
        http(loop),
        endpoints(*Endpoints::make("cn-hangzhou", machine.environment())),
        api({.loop = loop,
             .client = http,
             .endpoints = endpoints,
             .credentials = credentials,
             .log = {},
             .seed = 1}),
        ecs(api),
        cs(api) {
    http.script(
        {net::Response::text(input.status, std::move(input.body)), net::Response::json(200, "{}")});
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  FixedCredentials credentials;
  Endpoints endpoints;
  Api api;
  Ecs ecs;
  Cs cs;
};

void read_types(Asking& asking) {
  const auto types = wait(asking.loop, asking.ecs.instance_types());
  expect_explained(types);
  for (const auto& facts : types.value_or(std::vector<TypeFacts>{})) {
    const NodeClassSpec spec;
    overhead_of(facts, spec, capacity_of(facts, spec, {}));
  }
}

void read_instances(Asking& asking) {
  const auto found = wait(asking.loop, asking.ecs.instances_by_tags({{"a", "b"}}));
  expect_explained(found);
  for (const auto& each : found.value_or(std::vector<EcsInstance>{})) {
    if (each.id.empty()) {
      __builtin_trap();
    }
  }
}

void read_script(Asking& asking) {
  AttachQuestion question{.cluster_id = "c1", .arch = "amd64", .format_disk = false};
  const auto script = wait(asking.loop, asking.cs.attach_script(std::move(question)));
  expect_explained(script);
  if (script) {
    const model::NodeClaim claim;
    const NodeClassSpec spec;
    expect_explained(make_user_data(
        {.claim = claim, .spec = spec, .cluster_id = "c1", .attach_script = *script}));
  }
}

// What a launch makes of the answer: an instance that has an id, or a reason.
void launch(Asking& asking, bool one_by_one) {
  TypeFacts type;
  type.name = "ecs.g7.large";
  type.family = "ecs.g7";
  type.arch = "amd64";
  type.cpus = 2;
  type.memory_mib = 8'192;
  type.enis = 3;
  type.addresses_per_eni = 6;
  Catalog catalog("cn-hangzhou", {});
  catalog.set_types({type});
  const StockByType stock{{type.name, {{"z1", true}, {"z2", true}}}};
  catalog.set_stock(stock, stock);
  Resolver resolver(asking.api);
  Restock restock(asking.loop, catalog.unavailable(), [] {});
  Launcher launcher({.api = asking.api,
                     .catalog = catalog,
                     .restock = restock,
                     .resolver = resolver,
                     .cluster_id = "c1",
                     .custom_cluster = true,
                     .log = {}});
  auto node_class = std::make_shared<model::NodeClass>();
  node_class->meta.name = "main";
  node_class->spec = boost::json::object{};
  if (one_by_one) {
    node_class->spec = boost::json::object{{"metadataOptions", {{"httpTokens", "required"}}}};
  }
  node_class->status = model::parse_json(R"({"vSwitches":[{"id":"vsw-1","zoneID":"z1"},
    {"id":"vsw-2","zoneID":"z2"}],"securityGroups":[{"id":"sg-1"}],
    "images":[{"id":"m-1","requirements":[]}]})")
                           .value();
  auto claim = std::make_shared<model::NodeClaim>();
  claim->meta.name = "a";
  claim->meta.uid = "uid-a";
  const auto launched = wait(asking.loop, launcher.launch(claim, node_class));
  expect_explained(launched);
  if (launched && launched->instance_id.empty()) {
    __builtin_trap();
  }
}

void find_keys(Asking& asking, unsigned choice, const std::string& text) {
  auto& variables = asking.machine.variables;
  variables["HOME"] = "/h";
  if (choice % 3 == 0) {
    asking.machine.files["/h/.aliyun/config.json"] = text;
  } else if (choice % 3 == 1) {
    asking.machine.files["/token"] = "t";
    variables["ALIBABA_CLOUD_ROLE_ARN"] = "r";
    variables["ALIBABA_CLOUD_OIDC_PROVIDER_ARN"] = "p";
    variables["ALIBABA_CLOUD_OIDC_TOKEN_FILE"] = "/token";
  }
  CredentialChain chain({.loop = asking.loop,
                         .client = asking.http,
                         .environment = asking.machine.environment(),
                         .sts_url = "https://sts",
                         .log = {}});
  const auto found = wait(asking.loop, chain.get());
  expect_explained(found);
  if (found && (found->access_key_id.empty() || found->secret_access_key.empty())) {
    __builtin_trap();
  }
}

void ask(Input input) {
  constexpr unsigned kQuestions = 16;
  const unsigned choice = input.choice % kQuestions;
  const unsigned rest = input.choice / kQuestions;
  const std::string body = input.body;
  Asking asking(std::move(input));
  auto& loop = asking.loop;
  auto& ecs = asking.ecs;
  switch (choice) {
    case 0:
      return read_types(asking);
    case 1:
      return expect_explained(wait(loop, ecs.stock(rest % 2 == 0)));
    case 2:
      return expect_explained(wait(loop, ecs.spot_prices("ecs.g7.large")));
    case 3:
      return expect_explained(wait(loop, ecs.on_demand_price("ecs.g7.large")));
    case 4:
      return expect_explained(wait(loop, ecs.vswitches("vsw-1", {})));
    case 5:
      return expect_explained(wait(loop, ecs.security_groups({})));
    case 6:
      return expect_explained(wait(loop, ecs.images({})));
    case 7:
      return read_instances(asking);
    case 8:
      return launch(asking, false);
    case 9:
      return launch(asking, true);
    case 10:
      return expect_explained(wait(loop, asking.cs.cluster("c1")));
    case 11:
      return expect_explained(wait(loop, asking.cs.images("1.31")));
    case 12:
      return read_script(asking);
    case 13:
      return expect_explained(wait(loop, ecs.delete_instances({"i-1"})));
    default:
      return find_keys(asking, rest, body);
  }
}

}  // namespace
}  // namespace millwright::cloud::alibaba

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::cloud::alibaba::ask({data, size});
  return 0;
}
