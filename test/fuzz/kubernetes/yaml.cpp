// People's files, as the commands, kubeconfigs and user data are read.
#include "fuzz/expect.hpp"
#include "millwright/model/codec.hpp"

#include <cstdint>
#include <string>

namespace millwright::model {
namespace {

using fuzz::expect;

// Aliases may repeat text, but not without end.
constexpr std::size_t kMostRepeated = std::size_t{16} << 20;

void read(const std::string& text) {
  const auto documents = parse_yaml(text);
  if (!documents) {
    const base::Error& error = documents.error();
    expect(error.kind == base::ErrorKind::Invalid && error.message.starts_with("YAML: line "));
    return;
  }
  std::size_t size = 0;
  for (const boost::json::value& document : *documents) {
    // It is JSON, and written as YAML it reads as what it was.
    const std::string json = boost::json::serialize(document);
    size += json.size();
    expect(fuzz::read_json(json).has_value());
    const std::string written = to_yaml(document);
    const auto again = parse_yaml(written);
    expect(again && again->size() == 1 && again->front() == document &&
           to_yaml(again->front()) == written);
  }
  expect(size <= kMostRepeated + 16 * text.size());
}

}  // namespace
}  // namespace millwright::model

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::model::read(std::string(data, data + size));
  return 0;
}
