#include "millwright/telemetry/page.hpp"

#include "telemetry/sections.hpp"

namespace millwright::telemetry {

std::string render_page(const Picture& picture, std::size_t expected_size) {
  Text text(expected_size + expected_size / 8);
  write_cluster(text, picture);
  write_pools(text, picture);
  write_nodes(text, picture);
  write_pods(text, picture);
  write_conditions(text, picture);
  return text.take();
}

}  // namespace millwright::telemetry
