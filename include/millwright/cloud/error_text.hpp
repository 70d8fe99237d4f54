// The texts of clouds' errors, where they are written and where objects keep them.
#pragma once

#include <string>
#include <string_view>

namespace millwright::cloud {

// " (request id 1f2e)", the end of an error's message; empty without an id.
std::string request_id_note(std::string_view id);

// The message as conditions and events show it: without what is another at each attempt although
// nothing has changed, which are the ids of requests and AWS's encoded copy of the refused request.
// With them every attempt would be news: a write, an event, and a wake-up for all who watch the
// object. They are for the log.
std::string lasting_text(std::string_view message);

}  // namespace millwright::cloud
