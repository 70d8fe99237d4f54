// The console on the asking port: GET /console/ is a page, /console/console.css and .js belong to
// it, and /console/events tells it what there is. Each needs the right that /why needs.
#pragma once

#include "app/asking/asking_routes.hpp"
#include "app/console/console_feed.hpp"

#include <optional>
#include <string_view>

namespace millwright::app {

inline constexpr std::string_view kConsolePath = "/console";
inline constexpr std::string_view kConsolePage = "/console/";
inline constexpr std::string_view kConsoleEvents = "/console/events";

// A file of the page, by its path; nullopt: there is none. They are part of the program
// (src/app/console/page).
std::optional<net::Response> console_file(std::string_view path);

// What a browser must not do with an answer: run what is no file of ours, ask others, be framed,
// guess types, tell others the address.
void restrict_browser(net::Headers& headers);

// `feed` outlives the router and its requests.
void add_console_routes(net::Router& router, const AskingParts& parts, ConsoleFeed& feed);

}  // namespace millwright::app
