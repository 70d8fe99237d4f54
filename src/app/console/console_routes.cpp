#include "app/console/console_routes.hpp"

#include "app/console/console_files.hpp"

#include <utility>

namespace millwright::app {
namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct PageFile {
  std::string_view path;
  std::string_view type;
  const std::string_view& text;
};
const PageFile kPageFiles[] = {
    {kConsolePage, "text/html; charset=utf-8", kConsoleHtml},
    {"/console/console.css", "text/css; charset=utf-8", kConsoleCss},
    {"/console/console.js", "text/javascript; charset=utf-8", kConsoleJs},
};

}  // namespace

std::optional<net::Response> console_file(std::string_view path) {
  for (const auto& file : kPageFiles) {
    if (file.path == path) {
      net::Response response{.status = 200, .headers = {}, .body = std::string(file.text)};
      response.headers.set("Content-Type", std::string(file.type));
      response.headers.set("Cache-Control", "no-store");
      restrict_browser(response.headers);
      return response;
    }
  }
  return std::nullopt;
}

void restrict_browser(net::Headers& headers) {
  headers.set("Content-Security-Policy", std::string(kPolicy));
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("X-Frame-Options", "DENY");
  headers.set("Referrer-Policy", "no-referrer");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
}

void add_console_routes(net::Router& router, const AskingParts& parts, ConsoleFeed& feed) {
  router.add(
      std::string(kConsolePath), for_viewers(parts, [&feed](const Admitted& caller) {
        const auto path = caller.request.path();
        if (path == kConsoleEvents) {
          feed.open(caller);
          return;
        }
        auto file = console_file(path);
        caller.exchange->respond(file ? *std::move(file)
                                      : net::Response::text(404, "the console is at /console/\n"));
      }));
}

}  // namespace millwright::app
