// The shared files of a machine, and what container and instance metadata endpoints answer.
#include "cloud/aws/keys/credentials.hpp"

#include "answering.hpp"
#include "cloud/aws/keys/profile_file.hpp"

namespace millwright::cloud::aws {
namespace {

void find(Input input) {
  const unsigned choice = input.choice % 4;
  const std::string text = input.body;
  Answering aws(std::move(input), "{}");
  auto& variables = aws.machine.variables;
  variables["HOME"] = "/h";
  variables["AWS_EC2_METADATA_DISABLED"] = choice == 3 ? "false" : "true";
  if (choice < 2) {
    aws.machine.files[choice == 0 ? "/h/.aws/credentials" : "/h/.aws/config"] = text;
    expect_explained(parse_profiles(text, choice == 1, "f"));
  } else if (choice == 2) {
    variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://127.0.0.1/x";
  }
  CredentialChain chain({.loop = aws.loop,
                         .client = aws.http,
                         .environment = aws.machine.environment(),
                         .region = "us-west-2",
                         .log = {},
                         .seed = 1});
  const auto found = wait(aws.loop, chain.get());
  expect_explained(found);
  if (found && (found->access_key_id.empty() || found->secret_access_key.empty())) {
    __builtin_trap();
  }
}

}  // namespace
}  // namespace millwright::cloud::aws

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::cloud::aws::find({data, size});
  return 0;
}
