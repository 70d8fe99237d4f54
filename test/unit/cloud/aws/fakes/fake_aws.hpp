// AWS by operation: each test says what an operation answers, and reads back what it was asked.
#pragma once

#include "unit/cloud/aws/catalog/catalog_fixture.hpp"

#include <map>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

// A decoded form body or, for JSON, just its operation.
struct Asked {
  std::string operation;
  std::map<std::string, std::string> fields;
  std::string body;
  std::string field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? "" : found->second;
  }
  // The values of the filter of that name, joined by commas; "-" when there is none.
  std::string filter(const std::string& name) const {
    for (int i = 1; fields.contains("Filter." + std::to_string(i) + ".Name"); ++i) {
      const auto prefix = "Filter." + std::to_string(i);
      if (field(prefix + ".Name") != name) {
        continue;
      }
      std::string values;
      for (int j = 1; fields.contains(prefix + ".Value." + std::to_string(j)); ++j) {
        values += (j > 1 ? "," : "") + field(prefix + ".Value." + std::to_string(j));
      }
      return values;
    }
    return "-";
  }
};

class FakeAws {
 public:
  using Answer = std::function<base::Result<net::Response>(const Asked&)>;
  explicit FakeAws(FakeHttp& http) {
    http.handler = [this](const net::ClientRequest& request) { return handle(request); };
  }

  // XML or JSON text, for every call of the operation from now on.
  void on(const std::string& operation, std::string body) {
    answers_[operation] = [body](const Asked&) { return net::Response::text(200, body); };
  }
  void on(const std::string& operation, Answer answer) { answers_[operation] = std::move(answer); }

  Answer answer_to(const std::string& operation) const { return answers_.at(operation); }

  std::vector<Asked> calls(const std::string& operation) const {
    std::vector<Asked> result;
    for (const auto& each : asked) {
      if (each.operation == operation) {
        result.push_back(each);
      }
    }
    return result;
  }
  Asked only(const std::string& operation) const {
    const auto found = calls(operation);
    EXPECT_EQ(found.size(), 1U) << operation;
    return found.empty() ? Asked{} : found.front();
  }

  std::vector<Asked> asked;

 private:
  static std::string decode(std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return net::url_decode(spaced);
  }
  static Asked read(const net::ClientRequest& request) {
    Asked result;
    result.body = request.body;
    const std::string target(request.headers.get("X-Amz-Target"));
    if (!target.empty()) {
      result.operation = target.substr(target.find('.') + 1);
      return result;
    }
    if (request.method == "GET") {
      result.operation = request.url.find("/managedresources/") == std::string::npos
                             ? "GET"
                             : "GetManagedResource";
      result.fields["url"] = request.url;
      return result;
    }
    std::string_view rest = request.body;
    while (!rest.empty()) {
      const auto end = rest.find('&');
      const auto pair = rest.substr(0, end);
      const auto equals = pair.find('=');
      result.fields[decode(pair.substr(0, equals))] = decode(pair.substr(equals + 1));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    result.operation = result.field("Action");
    return result;
  }
  base::Result<net::Response> handle(const net::ClientRequest& request) {
    auto& last = asked.emplace_back(read(request));
    const auto found = answers_.find(last.operation);
    if (found == answers_.end()) {
      return ec2_error("UnexpectedInThisTest", 400, last.operation);
    }
    const Asked copy = last;  // answering may ask again
    return found->second(copy);
  }
  std::map<std::string, Answer> answers_;
};

}  // namespace millwright::cloud::aws
