// Shared by the parts of Client: makes URLs of keys, and refuses keys that would make wrong URLs.
#pragma once

#include "kube/calls/requester.hpp"
#include "millwright/kube/client.hpp"
#include "millwright/net/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace millwright::kube {

struct Client::State {
  State(base::Loop& loop, std::shared_ptr<Transport> transport, ClientOptions options,
        base::Metrics* metrics)
      : requester(loop, std::move(transport), std::move(options), metrics) {}

  std::string field_manager_query() const {
    return "?fieldManager=" + net::url_encode(requester.options().field_manager);
  }

  Requester requester;
};

// Invalid when a part of the key is missing or would change the meaning of the URL.
std::optional<base::Error> check_key(std::string_view verb, const model::Resource& resource,
                                     const model::ObjectKey& key, bool needs_name);

// The collection when the name is empty.
std::string path_to(const model::Resource& resource, const model::ObjectKey& key,
                    std::string_view subresource = {});

// A GET with verb and messages filled in; the caller adds the path and the rest.
Call call_for(std::string verb, const model::Resource& resource, const model::ObjectKey& key,
              std::string_view subresource = {});

}  // namespace millwright::kube
