// The expressions by which people choose devices. Where the text is JSON, it is an object of
// dynamic resource allocation instead.
#include "fuzz/expect.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/device_selector.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::model {
namespace {

using fuzz::expect;

Device device() {
  return {.name = "gpu-0",
          .attributes = {{"dra.net/rdma", true},
                         {"dra.net/index", std::int64_t{3}},
                         {"dra.net/name", std::string("eth1")},
                         {"dra.net/version", DeviceVersion{"1.2.3-rc.1"}}},
          .capacity = {{"dra.net/memory", Quantity::parse("40Gi").value()}}};
}

void choose(std::string_view expression) {
  const auto selector = DeviceSelector::parse(expression);
  if (!selector) {
    expect(selector.error().kind == base::ErrorKind::Invalid &&
           selector.error().message.starts_with("device selector: "));
    return;
  }
  const auto matches = selector->matches("dra.net", device());
  expect(matches || (matches.error().kind == base::ErrorKind::Invalid &&
                     matches.error().message.starts_with("device selector, for device gpu-0: ")));
  // The same device gets the same answer.
  expect(selector->matches("dra.net", device()) == matches);
}

template <class T>
void decode_object(const boost::json::value& json) {
  const auto object = decode<T>(json);
  expect(object || !object.error().message.empty());
}

void read(const std::string& text) {
  const auto json = fuzz::read_json(text);
  if (!json) {
    choose(text);
    return;
  }
  decode_object<DeviceClass>(*json);
  decode_object<ResourceClaim>(*json);
  decode_object<ResourceClaimTemplate>(*json);
  const auto slice = decode<ResourceSlice>(*json);
  if (slice && !slice->devices.empty()) {
    const auto selector = DeviceSelector::parse("device.attributes.all(d, d.size() < 32)").value();
    const auto matches = selector.matches(slice->driver, slice->devices.front());
    expect(matches || !matches.error().message.empty());
  }
  const auto templates = decode_device_templates(*json);
  expect(templates ? !templates->empty() : templates.error().message.starts_with("DRAConfig"));
}

}  // namespace
}  // namespace millwright::model

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::model::read(std::string(data, data + size));
  return 0;
}
