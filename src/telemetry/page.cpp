#include "millwright/telemetry/page.hpp"

#include "telemetry/sections.hpp"

namespace millwright::telemetry {

std::string render_page(const PageInput& input, std::size_t expected_size) {
  Text text(expected_size + expected_size / 8);
  write_cluster(text, input);
  write_pools(text, input);
  write_nodes(text, input);
  write_pods(text, input);
  write_conditions(text, input);
  return text.take();
}

}  // namespace millwright::telemetry
