#include "tools/fcvi_sim/report/page.hpp"

#include "tools/fcvi_sim/picture/ladder.hpp"
#include "tools/fcvi_sim/report/page_source.hpp"

namespace sim::report {
namespace {

std::string element(std::string_view id, std::string_view content) {
  return "<script type=\"text/plain\" id=\"" + std::string(id) + "\">" + std::string(content) + "</script>\n";
}

void replace(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

}  // namespace

std::string make_page(std::string_view title, const PageData& data, const Frames& frames) {
  std::string page(page_source());
  replace(page, "<!--title-->", escape_xml(title));
  replace(page, "<!--data-->",
          element("head", data.head) + element("frames", packed(frames.columns())) +
              element("rows", packed(data.rows)) + element("series", packed(data.series)) +
              element("field_lists", frames.field_lists()) + element("lists_of_frames", frames.lists_of_frames()) +
              element("bytes", frames.bytes()));
  return page;
}

}  // namespace sim::report
