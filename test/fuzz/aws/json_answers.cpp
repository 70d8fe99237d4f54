// The JSON that SSM, EKS, Pricing and SQS answer, what EventBridge puts on the queue, and price
// files.
#include "answering.hpp"
#include "cloud/aws/calls/price_list.hpp"
#include "cloud/aws/health/interruption.hpp"
#include "cloud/common/catalog/prices.hpp"

namespace millwright::cloud::aws {
namespace {

void ask(Input input) {
  constexpr unsigned kQuestions = 6;
  const unsigned choice = input.choice % kQuestions;
  const std::string body = input.body;
  Answering aws(std::move(input), "{}");
  switch (choice) {
    case 0:
      expect_explained(wait(aws.loop, get_parameter(aws.api, "/a")));
      break;
    case 1:
      expect_explained(wait(aws.loop, describe_cluster(aws.api, "demo")));
      break;
    case 2:
      expect_explained(wait(aws.loop, list_prices(aws.api)));
      break;
    case 3:
      parse_interruption(body);
      break;
    case 4:
      if (const auto price = read_product(body, "USD"); price && !(price->price > 0)) {
        __builtin_trap();
      }
      break;
    default: {
      const auto file = parse_price_file(body, "f");
      expect_explained(file);
      // What was read is written and read again alike.
      if (file && write_price_file(*parse_price_file(write_price_file(*file), "f")) !=
                      write_price_file(*file)) {
        __builtin_trap();
      }
    }
  }
}

}  // namespace
}  // namespace millwright::cloud::aws

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::cloud::aws::ask({data, size});
  return 0;
}
