// URLs of objects and collections, and lists page by page. Continue tokens expire when etcd is
// compacted (410 Gone); the list then starts again with larger pages, since fewer requests finish
// sooner.
#include "kube/calls/client_state.hpp"
#include "kube/calls/json.hpp"

#include <algorithm>
#include <utility>

namespace millwright::kube {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using model::ObjectKey;
using model::Resource;

constexpr int kMaxListRestarts = 3;

// API names are path segments: neither empty steps nor separators may come from data.
bool is_segment(std::string_view text) {
  return text != "." && text != ".." && std::ranges::none_of(text, [](unsigned char c) {
           return c <= 0x20 || c == 0x7f || c == '/' || c == '%' || c == '?' || c == '#';
         });
}

class Query {
 public:
  void add(std::string_view name, std::string_view value) {
    if (!value.empty()) {
      text_.append(text_.empty() ? "?" : "&")
          .append(name)
          .append("=")
          .append(net::url_encode(value));
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Call list_call(const Resource& resource, const ListOptions& options, const std::string& token) {
  const ObjectKey collection{.namespace_ = options.namespace_, .name = {}};
  Call call = call_for("list", resource, collection);
  Query query;
  query.add("labelSelector", options.label_selector);
  query.add("fieldSelector", options.field_selector);
  if (options.page_size > 0) {
    query.add("limit", std::to_string(options.page_size));
  }
  // A continue token fixes the version by itself; the API refuses both together.
  query.add("resourceVersion", token.empty() ? options.resource_version : std::string());
  query.add("continue", token);
  call.request.path = path_to(resource, collection) + query.text();
  return call;
}

struct Page {
  std::vector<json::value> items;
  std::string resource_version;
  std::string next;
};

base::Result<Page> read_page(const Resource& resource, json::value body, const std::string& what) {
  if (!body.is_object()) {
    return base::fail(ErrorKind::Unavailable, what + ": the API server's answer is not a list");
  }
  Page page{.items = {},
            .resource_version = std::string(text_at(body, "metadata.resourceVersion")),
            .next = std::string(text_at(body, "metadata.continue"))};
  auto* items = body.get_object().if_contains("items");
  if (items == nullptr || items->is_null()) {
    return page;  // Go writes an empty list as null
  }
  if (!items->is_array()) {
    return base::fail(ErrorKind::Unavailable, what + ": items is not an array in the answer");
  }
  page.items.reserve(items->get_array().size());
  for (auto& item : items->get_array()) {
    if (item.is_object()) {
      fill_type(item.get_object(), resource);
    }
    page.items.push_back(std::move(item));
  }
  return page;
}

}  // namespace

std::optional<base::Error> check_key(std::string_view verb, const Resource& resource,
                                     const ObjectKey& key, bool needs_name) {
  const auto refuse = [&](std::string_view problem) {
    return base::Error{ErrorKind::Invalid, std::string(verb) + " " + std::string(resource.kind) +
                                               " \"" + key.to_string() +
                                               "\": " + std::string(problem)};
  };
  if (needs_name && key.name.empty()) {
    return refuse("metadata.name is missing");
  }
  if (resource.namespaced && key.namespace_.empty()) {
    return refuse("metadata.namespace is missing");
  }
  if (!is_segment(key.name) || !is_segment(key.namespace_)) {
    return refuse("the name or namespace has characters that no object's name may have");
  }
  return std::nullopt;
}

std::string path_to(const Resource& resource, const ObjectKey& key, std::string_view subresource) {
  const std::string_view ns = resource.namespaced ? std::string_view(key.namespace_) : "";
  return resource.path(net::url_encode(ns), net::url_encode(key.name), subresource);
}

Call call_for(std::string verb, const Resource& resource, const ObjectKey& key,
              std::string_view subresource) {
  Call call;
  call.what = verb + " " + std::string(resource.kind);
  if (!key.name.empty()) {
    call.what.append(" ").append(key.to_string());
  } else if (!key.namespace_.empty()) {
    call.what.append(" in ").append(key.namespace_);
  }
  call.verb = std::move(verb);
  call.resource = resource;
  call.subresource = subresource;
  return call;
}

Client::Reply<std::string> Client::list_pages(Resource resource, ListOptions options,
                                              std::function<void(ListPage)> on_page,
                                              std::stop_token stop) {
  std::string token;
  std::string version;
  int restarts = 0;
  while (true) {
    Call call = list_call(resource, options, token);
    const std::string what = call.what;
    auto body = co_await state_->requester.run(std::move(call), stop);
    if (!body) {
      const bool expired = body.error().kind == ErrorKind::Gone && !token.empty();
      if (!expired || ++restarts > kMaxListRestarts) {
        co_return tl::unexpected(std::move(body).error());
      }
      token.clear();
      options.page_size *= 10;
      continue;
    }
    auto page = read_page(resource, *std::move(body), what);
    MW_CO_CHECK(page);
    const bool first = token.empty();
    if (first) {
      version = std::move(page->resource_version);
    }
    if (!page->next.empty() && page->next == token) {
      co_return base::fail(ErrorKind::Unavailable,
                           what + ": the API server gave the same continue token twice");
    }
    token = std::move(page->next);
    on_page(ListPage{.items = std::move(page->items), .first = first});
    if (token.empty()) {
      co_return version;
    }
  }
}

Client::Reply<std::string> Client::current_version(Resource resource, std::string name_space,
                                                   std::stop_token stop) {
  ListOptions options;
  options.namespace_ = std::move(name_space);
  options.page_size = 1;
  Call call = list_call(resource, options, {});
  const std::string what = call.what;
  MW_CO_TRY(body, co_await state_->requester.run(std::move(call), std::move(stop)));
  MW_CO_TRY(page, read_page(resource, std::move(body), what));
  co_return page.resource_version;
}

Client::Reply<ObjectList> Client::list(Resource resource, ListOptions options,
                                       std::stop_token stop) {
  ObjectList list;
  const std::function<void(ListPage)> collect = [&list](ListPage page) {
    if (page.first) {
      list.items.clear();
    }
    std::ranges::move(page.items, std::back_inserter(list.items));
  };
  auto version = co_await list_pages(resource, std::move(options), collect, std::move(stop));
  MW_CO_CHECK(version);
  list.resource_version = *std::move(version);
  co_return list;
}

}  // namespace millwright::kube
