// The XML that EC2, IAM and STS answer, through the calls that read it.
#include "answering.hpp"
#include "cloud/aws/catalog/capacity.hpp"
#include "cloud/aws/keys/credentials.hpp"
#include "cloud/aws/launch/launch_request.hpp"

namespace millwright::cloud::aws {
namespace {

void ask(Input input) {
  constexpr unsigned kQuestions = 12;
  const unsigned choice = input.choice % kQuestions;
  Answering aws(std::move(input), "<R/>");
  auto& ec2 = aws.ec2;
  switch (choice) {
    case 0: {
      const auto types = wait(aws.loop, ec2.instance_types());
      expect_explained(types);
      NodeClassSpec spec;
      spec.family = Family::Al2023;
      for (const auto& facts : types.value_or(std::vector<TypeFacts>{})) {
        overhead_of(facts, spec, capacity_of(facts, spec, {}));
      }
      break;
    }
    case 1:
      expect_explained(wait(aws.loop, ec2.type_zones()));
      break;
    case 2:
      expect_explained(wait(aws.loop, ec2.spot_prices()));
      break;
    case 3:
      expect_explained(wait(aws.loop, ec2.subnets({})));
      break;
    case 4:
      expect_explained(wait(aws.loop, ec2.security_groups({})));
      break;
    case 5:
      expect_explained(wait(aws.loop, ec2.images({}, {})));
      break;
    case 6:
      expect_explained(wait(aws.loop, ec2.instances({})));
      break;
    case 7:
      expect_explained(wait(aws.loop, ec2.launch_templates({})));
      break;
    case 8: {
      const auto fleet = wait(aws.loop, ec2.create_fleet(Form("CreateFleet", kEc2Version)));
      expect_explained(fleet);
      if (fleet) {
        read_fleet(*fleet);
      }
      break;
    }
    case 9:
      expect_explained(wait(
          aws.loop, ensure_instance_profile(aws.api, {.name = "n", .path = "/", .role = "r"})));
      break;
    case 10:
      expect_explained(wait(aws.loop, find_placement_group(aws.api, {.id = "pg-1", .name = {}})));
      break;
    default: {
      const CredentialParts parts{.loop = aws.loop,
                                  .client = aws.http,
                                  .environment = aws.machine.environment(),
                                  .region = "us-west-2",
                                  .log = {},
                                  .seed = 1};
      AssumedRole role{.role_arn = "arn", .session_name = "s", .token = "t"};
      expect_explained(wait(aws.loop, assume_role(parts, role, std::nullopt)));
    }
  }
}

}  // namespace
}  // namespace millwright::cloud::aws

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::cloud::aws::ask({data, size});
  return 0;
}
