#include "core/routing/route_tree.h"

#include "core/base/assert.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace millrace::routing {

namespace {

constexpr size_t not_common = SIZE_MAX;

// Number of a common method, or not_common. By size first, so that one comparison decides.
size_t common_index(std::string_view method) {
    switch (method.size()) {
        case 3:
            return method == "GET" ? 0 : method == "PUT" ? 1 : not_common;
        case 4:
            return method == "POST" ? 2 : method == "HEAD" ? 3 : not_common;
        case 5:
            return method == "PATCH" ? 4 : method == "TRACE" ? 5 : not_common;
        case 6:
            return method == "DELETE" ? 6 : not_common;
        case 7:
            return method == "OPTIONS" ? 7 : method == "CONNECT" ? 8 : not_common;
        default:
            return not_common;
    }
}

std::vector<std::string_view> segments_of(std::string_view pattern) {
    std::vector<std::string_view> segments;
    if (pattern.empty()) return segments;
    pattern.remove_prefix(1);
    // No search looks past segments_max, so what lies behind is one text and the tree stays
    // shallow.
    while (segments.size() < segments_max) {
        const size_t slash = pattern.find('/');
        segments.push_back(pattern.substr(0, slash));
        if (slash == std::string_view::npos) return segments;
        pattern.remove_prefix(slash + 1);
    }
    segments.push_back(pattern);
    return segments;
}

std::string key_of(std::string_view method, std::string_view pattern) {
    std::string key{method};
    if (!pattern.empty()) key.append(1, '/').append(pattern.substr(1));
    return key;
}

constexpr size_t prefix_bytes = sizeof(uint64_t);

// The first bytes of a text as a number: what most texts differ in.
uint64_t prefix_of(std::string_view text) {
    uint64_t prefix = 0;
    for (size_t index = 0; index < std::min(text.size(), prefix_bytes); ++index)
        prefix |= uint64_t{static_cast<unsigned char>(text[index])} << (8 * index);
    return prefix;
}

// Order of text children.
bool text_before(std::string_view a, std::string_view b) {
    const uint64_t prefix_a = prefix_of(a), prefix_b = prefix_of(b);
    return prefix_a != prefix_b ? prefix_a < prefix_b : a < b;
}

bool name_before(std::string_view a, std::string_view b) { return b < a; }

}  // namespace

struct RouteTree::Node {
    struct Child {
        std::string segment;
        std::unique_ptr<Node> node;
    };
    using Children = std::vector<Child>;

    RouteId route = no_route;
    Children texts;                       // sorted by text_before
    std::vector<uint64_t> text_prefixes;  // of texts
    Children parameters;                  // sorted by name_before
    Children wildcards;  // sorted by name_before; what lies below them is never reached

    bool is_empty() const {
        return route == no_route && texts.empty() && parameters.empty() && wildcards.empty();
    }

    Children& children_for(std::string_view segment) {
        if (segment.starts_with(':')) return parameters;
        if (segment.starts_with('*')) return wildcards;
        return texts;
    }

    // Where `segment` is among its siblings, or would be.
    static Children::iterator place_of(Children& children, std::string_view segment) {
        const bool is_text = !segment.starts_with(':') && !segment.starts_with('*');
        const auto before = is_text ? text_before : name_before;
        return std::lower_bound(children.begin(), children.end(), segment,
                                [&](const Child& child, std::string_view wanted) {
                                    return before(child.segment, wanted);
                                });
    }

    Node& child_made(std::string_view segment) {
        Children& children = children_for(segment);
        auto place = place_of(children, segment);
        if (place == children.end() || place->segment != segment)
            place = children.insert(place, {std::string{segment}, std::make_unique<Node>()});
        note_texts();
        return *place->node;
    }

    // Takes the route at the end of `segments` away, and every node that is then of no use.
    RouteId remove(std::span<const std::string_view> segments) {
        if (segments.empty()) return std::exchange(route, no_route);
        Children& children = children_for(segments.front());
        const auto place = place_of(children, segments.front());
        if (place == children.end() || place->segment != segments.front()) return no_route;
        const RouteId removed = place->node->remove(segments.subspan(1));
        if (place->node->is_empty()) children.erase(place);
        note_texts();
        return removed;
    }

    const Node* text_child(std::string_view segment, uint64_t prefix) const {
        size_t index = 0;
        // Few siblings are the rule, and then a straight walk beats a binary search.
        constexpr size_t walk_max = 8;
        const size_t count = text_prefixes.size();
        if (count <= walk_max) {
            while (index < count && text_prefixes[index] < prefix)
                ++index;
        } else {
            const auto begin = text_prefixes.begin();
            index =
                static_cast<size_t>(std::lower_bound(begin, text_prefixes.end(), prefix) - begin);
        }
        for (; index < count && text_prefixes[index] == prefix; ++index)
            if (texts[index].segment == segment) return texts[index].node.get();
        return nullptr;
    }

    void note_texts() {
        text_prefixes.clear();
        for (const Child& child : texts)
            text_prefixes.push_back(prefix_of(child.segment));
    }
};

// One lookup. Each node is entered at most once, so a lookup is bounded by the size of the tree.
class RouteTree::Search {
  public:
    Search(std::string_view path, uint32_t skip, Match& match)
        : start_(path.data()), end_(path.data() + path.size()), skip_(skip), match_(match) {
        if (path.starts_with('/'))
            ++start_;
        else
            has_slashes_ = false;
    }

    bool run(const Node& root) {
        match_.parameter_count = 0;
        return descend(root, start_, 0);
    }

  private:
    // `segment_start` is the first byte of segment number `depth`, or nullptr behind the last one.
    bool descend(const Node& node, const char* segment_start, size_t depth) {
        if (segment_start == nullptr) return take(node.route);
        if (depth == segments_max) return false;
        uint64_t prefix = 0;
        const char* const slash = segment_end(segment_start, prefix);
        const char* const next = slash == end_ ? nullptr : slash + 1;
        const std::string_view segment{segment_start, static_cast<size_t>(slash - segment_start)};

        const Node* const text = node.text_child(segment, prefix);
        if (text != nullptr && descend(*text, next, depth + 1)) return true;
        if (!segment.empty() && descend_by_parameter(node, segment, next, depth)) return true;
        return std::any_of(node.wildcards.begin(), node.wildcards.end(),
                           [&](const Node::Child& child) { return take(child.node->route); });
    }

    bool descend_by_parameter(const Node& node, std::string_view segment, const char* next,
                              size_t depth) {
        for (const Node::Child& child : node.parameters) {
            match_.parameters[match_.parameter_count++] = segment;
            if (descend(*child.node, next, depth + 1)) return true;
            --match_.parameter_count;
        }
        return false;
    }

    // The end of a segment and, on the way, its prefix_of().
    const char* segment_end(const char* at, uint64_t& prefix) const {
        for (unsigned shift = 0; shift < 8 * prefix_bytes; shift += 8, ++at) {
            if (at == end_ || (*at == '/' && has_slashes_)) return at;
            prefix |= uint64_t{static_cast<unsigned char>(*at)} << shift;
        }
        if (!has_slashes_ || at == end_) return end_;
        const void* slash = std::memchr(at, '/', static_cast<size_t>(end_ - at));
        return slash != nullptr ? static_cast<const char*>(slash) : end_;
    }

    bool take(RouteId route) {
        if (route == no_route) return false;
        if (skip_ > 0) {
            --skip_;
            return false;
        }
        match_.route = route;
        return true;
    }

    const char* start_;
    const char* end_;
    uint32_t skip_;
    bool has_slashes_ = true;
    Match& match_;
};

RouteTree::RouteTree() : any_(std::make_unique<Node>()), common_{} {}
RouteTree::~RouteTree() = default;

RouteTree::RouteTree(RouteTree&& other) noexcept
    : any_(std::move(other.any_)),
      methods_(std::move(other.methods_)),
      common_(std::exchange(other.common_, {})),
      registrations_(std::move(other.registrations_)) {}

RouteTree& RouteTree::operator=(RouteTree&& other) noexcept {
    any_ = std::move(other.any_);
    methods_ = std::move(other.methods_);
    common_ = std::exchange(other.common_, {});
    registrations_ = std::move(other.registrations_);
    return *this;
}

RouteId RouteTree::add(std::string_view method, std::string_view pattern, RouteId route) {
    MR_ASSERT(route != no_route);
    Node* node = &root_made(method);
    for (const std::string_view segment : segments_of(pattern))
        node = &node->child_made(segment);
    const RouteId before = std::exchange(node->route, route);
    if (before != no_route) forget(before, method, pattern);
    remember(route, method, pattern);
    return before;
}

RouteId RouteTree::remove(std::string_view method, std::string_view pattern) {
    if (!method.empty() && root_of(method) == nullptr) return no_route;
    const RouteId removed = root_made(method).remove(segments_of(pattern));
    if (removed != no_route) forget(removed, method, pattern);
    return removed;
}

bool RouteTree::find(std::string_view method, std::string_view path, uint32_t skip, Match& match,
                     std::string_view also) const {
    Search search{path, skip, match};
    const Node* const own = root_of(method);
    if (own != nullptr && search.run(*own)) return true;
    const Node* const second = also.empty() ? nullptr : root_of(also);
    if (second != nullptr && search.run(*second)) return true;
    return any_ != nullptr && search.run(*any_);
}

std::span<const std::string> RouteTree::parameter_names(RouteId route) const {
    const auto found = registrations_.find(route);
    if (found == registrations_.end()) return {};
    return found->second.back().parameter_names;
}

std::vector<std::string_view> RouteTree::methods_for(std::string_view path) const {
    std::vector<std::string_view> methods;
    Match match;
    for (const MethodTree& tree : methods_)
        if (Search{path, 0, match}.run(*tree.root)) methods.push_back(tree.method);
    return methods;
}

const RouteTree::Node* RouteTree::root_of(std::string_view method) const {
    const size_t index = common_index(method);
    if (index != not_common) return common_[index];
    for (const MethodTree& tree : methods_)
        if (tree.method == method) return tree.root.get();
    return nullptr;
}

RouteTree::Node& RouteTree::root_made(std::string_view method) {
    if (method.empty()) {
        if (any_ == nullptr) any_ = std::make_unique<Node>();
        return *any_;
    }
    for (MethodTree& tree : methods_)
        if (tree.method == method) return *tree.root;
    methods_.push_back({std::string{method}, std::make_unique<Node>()});
    Node& root = *methods_.back().root;
    if (const size_t index = common_index(method); index != not_common) common_[index] = &root;
    return root;
}

void RouteTree::remember(RouteId route, std::string_view method, std::string_view pattern) {
    Registration registration{key_of(method, pattern), {}};
    for (const std::string_view segment : segments_of(pattern))
        if (segment.starts_with(':')) registration.parameter_names.emplace_back(segment.substr(1));
    registrations_[route].push_back(std::move(registration));
}

void RouteTree::forget(RouteId route, std::string_view method, std::string_view pattern) {
    const auto found = registrations_.find(route);
    MR_ASSERT(found != registrations_.end());
    std::erase_if(found->second, [key = key_of(method, pattern)](const Registration& registration) {
        return registration.key == key;
    });
    if (found->second.empty()) registrations_.erase(found);
}

}  // namespace millrace::routing
