#include "app/console/live_what_if.hpp"

#include "app/whatif/cluster/cluster_files.hpp"
#include "app/whatif/forecast.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

namespace millwright::app {
namespace {

namespace json = boost::json;

constexpr std::string_view kLive = "the cluster";

base::Error no_files(const std::string& word) {
  return base::Error{
      base::ErrorKind::Invalid,
      "\"" + word + "\" is not for this page: `millwright what-if` takes files and options"};
}

base::Result<std::string> forecast_text(const WhatIfRequest& question, const std::string& cluster) {
  const auto read = [&cluster](const std::string& path) -> base::Result<std::string> {
    if (path != kLive) {
      return tl::unexpected(no_files(path));
    }
    return cluster;
  };
  MW_TRY(forecast, make_forecast(question, read));
  return to_text(forecast);
}

net::Response failed(int status, const base::Error& error) {
  return net::Response::text(status, error.message + "\n");
}

}  // namespace

base::Result<WhatIfRequest> parse_page_what_if(std::string_view changes) {
  std::vector<std::string> words{"-f", std::string(kLive)};
  std::istringstream text{std::string(changes)};
  for (std::string word; text >> word;) {
    if (word == "apply" || (word.starts_with("-") && word != "-n")) {
      return tl::unexpected(no_files(word));
    }
    words.push_back(word);
  }
  return parse_what_if(words);
}

void LiveWhatIf::answer(const net::Request& request, std::shared_ptr<net::Exchange> exchange) {
  auto question = parse_page_what_if(request.query("change").value_or(""));
  if (!question) {
    exchange->respond(failed(400, question.error()));
    return;
  }
  if (busy_) {
    exchange->respond(net::Response::text(
        429, "another what-if is being worked out: ask again when it has answered\n"));
    return;
  }
  busy_ = true;
  group_.spawn(work(*std::move(question), std::move(exchange)));
}

base::Task<void> LiveWhatIf::work(WhatIfRequest question, std::shared_ptr<net::Exchange> exchange) {
  auto cluster = co_await read_cluster();
  if (!cluster) {
    busy_ = false;
    exchange->respond(failed(502, cluster.error()));
    co_return;
  }
  auto job = [question = std::move(question), cluster = *std::move(cluster)] {
    return forecast_text(question, cluster);
  };
  const auto text =
      co_await base::offload(client_.loop(), compute_, std::move(job), base::Urgency::Background);
  busy_ = false;
  exchange->respond(text ? net::Response::text(200, *text) : failed(400, text.error()));
}

// A List of all that a forecast is made of, as `kubectl get -o json` prints it.
base::Task<base::Result<std::string>> LiveWhatIf::read_cluster() {
  json::array items;
  for (const auto& resource : planned_kinds()) {
    auto listed = co_await client_.list(resource);
    if (!listed && listed.error().kind == base::ErrorKind::NotFound) {
      continue;  // NodeClasses of other clouds
    }
    if (!listed) {
      co_return base::fail(listed.error().kind, "cannot list " + std::string(resource.plural) +
                                                    ": " + listed.error().message);
    }
    std::move(listed->items.begin(), listed->items.end(), std::back_inserter(items));
  }
  co_return json::serialize(
      json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

}  // namespace millwright::app
