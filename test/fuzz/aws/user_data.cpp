// People's user data, merged with ours for every family.
#include "cloud/aws/launch/user_data.hpp"

#include <cstdint>

namespace millwright::cloud::aws {
namespace {

void merge(std::string text) {
  constexpr std::size_t kLimit = 16U << 10;
  Boot boot;
  boot.cluster = {.name = "demo", .endpoint = "https://api.example", .ca_bundle = "Q0E="};
  boot.family = static_cast<Family>(text.empty() ? 0 : static_cast<unsigned char>(text[0]) % 7);
  boot.user_data = text.empty() ? std::string() : text.substr(1);
  boot.max_pods = 29;
  boot.labels = {{"team", "a"}};
  boot.taints = {{.key = "k", .value = "v", .effect = "NoSchedule"}};
  boot.raid0 = text.size() % 2 == 0;
  const auto made = make_user_data(boot);
  const bool good = made ? made->size() <= kLimit && made->find('\r') == std::string::npos
                         : made.error().message.find("spec.userData") != std::string::npos;
  if (!good) {
    __builtin_trap();
  }
}

}  // namespace
}  // namespace millwright::cloud::aws

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::cloud::aws::merge(std::string(data, data + size));
  return 0;
}
