#include "cloud/common/text/url.hpp"

namespace millwright::cloud {

UrlParts split_url(std::string_view url) {
  UrlParts parts;
  const auto scheme = url.find("://");
  const bool https = url.starts_with("https:");
  if (scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find('#'));
  const auto end = url.find_first_of("/?");
  parts.authority = url.substr(0, end);
  const std::string_view usual_port = https ? ":443" : ":80";
  if (parts.authority.ends_with(usual_port)) {
    parts.authority.remove_suffix(usual_port.size());
  }
  if (end != std::string_view::npos) {
    const auto question = url.find('?', end);
    parts.path = url.substr(end, question - end);
    if (question != std::string_view::npos) {
      parts.query = url.substr(question + 1);
    }
  }
  return parts;
}

}  // namespace millwright::cloud
