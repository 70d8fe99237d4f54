#include "app/settings/device_config.hpp"

#include "app/settings/setting_file.hpp"
#include "millwright/model/codec.hpp"

#include <iterator>
#include <string_view>
#include <utility>

namespace millwright::app {
namespace {

using Templates = std::vector<model::DeviceTemplate>;

base::Result<Templates> parse_device_templates(std::string_view yaml) {
  MW_TRY(documents, model::parse_yaml(yaml));
  if (documents.empty()) {
    return base::fail(base::ErrorKind::Invalid, "there is no DRAConfig");
  }
  Templates templates;
  for (const auto& document : documents) {
    MW_TRY(more, model::decode_device_templates(document));
    std::move(more.begin(), more.end(), std::back_inserter(templates));
  }
  return templates;
}

}  // namespace

base::Result<Templates> load_device_templates(const std::string& path) {
  MW_TRY(text, read_setting_file(path));
  auto templates = parse_device_templates(text);
  if (!templates) {
    return base::fail(base::ErrorKind::Invalid,
                      "names " + path + ", in which " + templates.error().message);
  }
  return templates;
}

}  // namespace millwright::app
