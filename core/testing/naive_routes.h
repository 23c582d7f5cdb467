// The rules of core/routing once more, as plainly as they can be said and without a tree: what
// differential tests and the fuzz target hold the real thing against.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::testing {

class NaiveRoutes {
  public:
    struct Candidate {
        uint32_t route;
        std::vector<std::string> parameters;
        bool operator==(const Candidate&) const = default;
    };

    // Returns the route that method and pattern had before.
    std::optional<uint32_t> add(std::string method, const std::string& pattern, uint32_t route) {
        auto before = remove(method, pattern);
        entries_.push_back({std::move(method), split(pattern), route});
        return before;
    }

    std::optional<uint32_t> remove(const std::string& method, const std::string& pattern) {
        const auto found = std::find_if(entries_.begin(), entries_.end(),
                                        [&, parts = split(pattern)](const Entry& entry) {
                                            return entry.method == method && entry.parts == parts;
                                        });
        if (found == entries_.end()) return std::nullopt;
        const uint32_t route = found->route;
        entries_.erase(found);
        return route;
    }

    // All candidates, in order of precedence.
    std::vector<Candidate> find(const std::string& method, const std::string& path) const {
        std::vector<Candidate> found = of_tree(method, path);
        if (!method.empty())
            for (Candidate& candidate : of_tree("", path))
                found.push_back(std::move(candidate));
        return found;
    }

  private:
    static constexpr size_t segments_max = 100;
    using Parts = std::vector<std::string>;

    struct Entry {
        std::string method;
        Parts parts;
        uint32_t route;
    };

    // What one segment contributes to the order: its kind, then descending names.
    struct Rank {
        int kind;
        std::string name;
        bool operator==(const Rank&) const = default;
        bool operator<(const Rank& other) const {
            return kind != other.kind ? kind < other.kind : other.name < name;
        }
    };

    struct Ranked {
        std::vector<Rank> rank;
        Candidate candidate;
    };

    static Parts split(std::string_view text) {
        Parts parts;
        if (text.empty()) return parts;
        size_t start = 1;
        while (true) {
            const size_t slash = text.find('/', start);
            parts.emplace_back(text.substr(start, slash - start));
            if (slash == std::string_view::npos) return parts;
            start = slash + 1;
        }
    }

    static std::optional<Ranked> match(const Entry& entry, const Parts& path) {
        Ranked ranked{{}, {entry.route, {}}};
        for (size_t index = 0; index < entry.parts.size(); ++index) {
            const std::string& part = entry.parts[index];
            if (index == segments_max || index >= path.size()) return std::nullopt;
            const std::string& segment = path[index];
            if (part.starts_with('*')) {
                if (index + 1 < entry.parts.size()) return std::nullopt;
                ranked.rank.push_back({2, part});
                return ranked;
            }
            if (part.starts_with(':')) {
                if (segment.empty()) return std::nullopt;
                ranked.rank.push_back({1, part});
                ranked.candidate.parameters.push_back(segment);
            } else {
                if (segment != part) return std::nullopt;
                ranked.rank.push_back({0, ""});
            }
        }
        if (entry.parts.size() != path.size()) return std::nullopt;
        return ranked;
    }

    std::vector<Candidate> of_tree(const std::string& method, const std::string& path) const {
        const Parts parts = path.starts_with('/') ? split(path) : Parts{path};
        std::vector<Ranked> matches;
        for (const Entry& entry : entries_)
            if (entry.method == method)
                if (auto ranked = match(entry, parts)) matches.push_back(std::move(*ranked));
        std::sort(matches.begin(), matches.end(),
                  [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
        std::vector<Candidate> candidates;
        for (Ranked& ranked : matches)
            candidates.push_back(std::move(ranked.candidate));
        return candidates;
    }

    std::vector<Entry> entries_;
};

}  // namespace millrace::testing
