#include "octavo/Steps/MovedWeight.h"
#include "octavo/Steps/ProgramFields.h"

namespace octavo::steps {

/// The elements that what is gathered reaches up to; there are so many of each slice.
static std::uint64_t reachOf(ProgramFields& fields, Gathered& gathered, std::int64_t slices,
                             std::uint64_t ofSlice) {
  fields.number(gathered.offset);
  std::vector<Extent> extents;
  std::uint64_t count = 1;
  fields.list(gathered.axes, ProgramFields::kMost, [&](Gathered::Axis& axis) {
    fields.number(axis.count);
    fields.number(axis.stride);
    extents.push_back({axis.count, axis.stride});
    count = fields.bytes({static_cast<std::int64_t>(count), axis.count});
  });
  if (count != fields.bytes({slices, static_cast<std::int64_t>(ofSlice)}))
    fields.fail("a weight that is gathered in another form");
  return fields.reach(gathered.offset, extents, 1);
}

void SliceChoice::fields(ProgramFields& fields) {
  fields.number(count, 1);
  fields.maybe(index, [&](StartIndex& start) {
    fields.number(start.bytes, 1, 8);
    fields.truth(start.isUnsigned);
    fields.slot(start.slot, static_cast<std::uint64_t>(start.bytes), ProgramFields::Access::Read);
  });
  if (!index && count != 1)
    fields.fail("several slices that nothing chooses among");
}

MovedWeight::Reach MovedWeight::fields(ProgramFields& fields, const Reach& ofSlice) {
  slices.fields(fields);
  const std::uint64_t codes = reachOf(fields, elements, slices.count, ofSlice.elements);
  return {codes, reachOf(fields, scales, slices.count, ofSlice.scales)};
}

} // namespace octavo::steps
