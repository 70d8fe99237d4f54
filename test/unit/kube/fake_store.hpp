// A few objects behind a FakeTransport with the API's rules for versions: GET, POST, PUT with
// conflicts and merge PATCH.
#pragma once

#include "fake_transport.hpp"
#include "millwright/model/patch.hpp"

#include <map>
#include <string>

namespace millwright::kube::test {

class FakeStore {
 public:
  net::Response answer(const ApiRequest& request) {
    const auto path = request.path.substr(0, request.path.find('?'));
    if (request.method == "POST") {
      auto body = parse(request.body);
      const std::string name(body.at("metadata").at("name").as_string());
      return create(path + "/" + name, std::move(body));
    }
    const auto found = objects.find(path);
    if (found == objects.end()) {
      return status_answer(404, "NotFound", path + " not found");
    }
    auto& stored = found->second;
    if (request.method == "PUT") {
      auto body = parse(request.body);
      if (body.at("metadata").at("resourceVersion") !=
          stored.at("metadata").at("resourceVersion")) {
        return status_answer(409, "Conflict", "the object has been modified");
      }
      stored = std::move(body);
      stamp(stored);
    } else if (request.method == "PATCH") {
      model::apply_merge_patch(stored, parse(request.body));
      stamp(stored);
    }
    return ok(stored);
  }

  std::map<std::string, json::value> objects;

 private:
  net::Response create(const std::string& path, json::value body) {
    if (objects.contains(path)) {
      return status_answer(409, "AlreadyExists", path + " exists");
    }
    stamp(body);
    return ok(objects.emplace(path, std::move(body)).first->second);
  }
  void stamp(json::value& object) {
    object.at("metadata").as_object()["resourceVersion"] = std::to_string(++version_);
  }
  int version_ = 0;
};

}  // namespace millwright::kube::test
