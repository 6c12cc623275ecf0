/**
 * Consecutive rows often belong to the same group, and adding to an address in memory must wait for the previous addition to it.
 * So consecutive rows are added in separate lanes, which are summed at the end.
 */

/** Number of places of each of the four lanes. */
const WIDTH = 8192

/** With fewer rows per place, lanes are not worthwhile. */
const ROWS_PER_PLACE = 4

const rowLanes = new Uint32Array(4 * WIDTH)
const numberLanes = new Float64Array(4 * WIDTH)

function isWorthLanes(rows: number, places: number): boolean {
  return places <= WIDTH && rows >= ROWS_PER_PLACE * places
}

/** Counts rows by place. */
export function countPlaces(counts: Uint32Array, places: Uint32Array): void {
  let row = 0
  if (isWorthLanes(places.length, counts.length)) {
    row = places.length & ~3
    countInLanes(places, row)
    addLanes(counts, rowLanes)
  }
  for (; row < places.length; row++) {
    const place = places[row] as number
    counts[place] = (counts[place] as number) + 1
  }
}

/** Counts some rows by place: as `countPlaces` of the places of these rows, which are not copied. */
export function countPlacesOf(counts: Uint32Array, places: Uint32Array, rows: Uint32Array): void {
  let at = 0
  if (isWorthLanes(rows.length, counts.length)) {
    at = rows.length & ~3
    countSomeInLanes(places, rows, at)
    addLanes(counts, rowLanes)
  }
  for (; at < rows.length; at++) {
    const place = places[rows[at] as number] as number
    counts[place] = (counts[place] as number) + 1
  }
}

/** Counts rows by ranges of places: by those that are equal without their lowest bits. */
export function countRanges(counts: Uint32Array, places: Uint32Array, bits: number): void {
  for (let row = 0; row < places.length; row++) {
    const range = (places[row] as number) >>> bits
    counts[range] = (counts[range] as number) + 1
  }
}

/**
 * Adds integers, whose sums are exact in any order, by group.
 *
 * @param table integers by the numbers of rows
 * @param count number of groups
 */
export function addIntegers(
  sums: Float64Array,
  groups: Uint32Array,
  table: Float64Array,
  ids: Uint32Array,
  count: number,
): void {
  let row = 0
  if (isWorthLanes(groups.length, count)) {
    row = groups.length & ~3
    addInLanes(groups, table, ids, row)
    addLanes(sums.subarray(0, count), numberLanes)
  }
  for (; row < groups.length; row++) {
    const group = groups[row] as number
    sums[group] = (sums[group] as number) + (table[ids[row] as number] as number)
  }
}

/**
 * Adds integers by group: as `addIntegers` of the groups and numbers of some rows, which are not copied.
 *
 * @param ids null where the table has a number for each row
 */
export function addIntegersOf(
  sums: Float64Array,
  groups: Uint32Array,
  rows: Uint32Array,
  table: Float64Array,
  ids: Uint32Array | null,
): void {
  let at = 0
  if (isWorthLanes(rows.length, sums.length)) {
    at = rows.length & ~3
    if (ids === null) addRowsInLanes(groups, rows, table, at)
    else addSomeInLanes(groups, rows, table, ids, at)
    addLanes(sums, numberLanes)
  }
  for (; at < rows.length; at++) {
    const row = rows[at] as number
    const group = groups[row] as number
    sums[group] = (sums[group] as number) + (table[ids === null ? row : (ids[row] as number)] as number)
  }
}

/** Adds the lanes to the totals, and clears them. */
function addLanes<Numbers extends Uint32Array | Float64Array>(totals: Numbers, lanes: Numbers): void {
  const width = totals.length | 0
  for (let place = 0; place < width; place++)
    totals[place] =
      (totals[place] as number) +
      (lanes[place] as number) +
      (lanes[place + WIDTH] as number) +
      (lanes[place + 2 * WIDTH] as number) +
      (lanes[place + 3 * WIDTH] as number)
  for (let from = 0; from < 4 * WIDTH; from += WIDTH) lanes.fill(0, from, from + width)
}

function countInLanes(places: Uint32Array, end: number): void {
  const lanes = rowLanes
  for (let row = 0; row < end; row += 4) {
    const first = places[row] as number
    lanes[first] = (lanes[first] as number) + 1
    const second = (places[row + 1] as number) + WIDTH
    lanes[second] = (lanes[second] as number) + 1
    const third = (places[row + 2] as number) + 2 * WIDTH
    lanes[third] = (lanes[third] as number) + 1
    const fourth = (places[row + 3] as number) + 3 * WIDTH
    lanes[fourth] = (lanes[fourth] as number) + 1
  }
}

function countSomeInLanes(places: Uint32Array, rows: Uint32Array, end: number): void {
  const lanes = rowLanes
  for (let at = 0; at < end; at += 4) {
    const first = places[rows[at] as number] as number
    lanes[first] = (lanes[first] as number) + 1
    const second = (places[rows[at + 1] as number] as number) + WIDTH
    lanes[second] = (lanes[second] as number) + 1
    const third = (places[rows[at + 2] as number] as number) + 2 * WIDTH
    lanes[third] = (lanes[third] as number) + 1
    const fourth = (places[rows[at + 3] as number] as number) + 3 * WIDTH
    lanes[fourth] = (lanes[fourth] as number) + 1
  }
}

function addInLanes(groups: Uint32Array, table: Float64Array, ids: Uint32Array, end: number): void {
  const lanes = numberLanes
  for (let row = 0; row < end; row += 4) {
    const first = groups[row] as number
    lanes[first] = (lanes[first] as number) + (table[ids[row] as number] as number)
    const second = (groups[row + 1] as number) + WIDTH
    lanes[second] = (lanes[second] as number) + (table[ids[row + 1] as number] as number)
    const third = (groups[row + 2] as number) + 2 * WIDTH
    lanes[third] = (lanes[third] as number) + (table[ids[row + 2] as number] as number)
    const fourth = (groups[row + 3] as number) + 3 * WIDTH
    lanes[fourth] = (lanes[fourth] as number) + (table[ids[row + 3] as number] as number)
  }
}

function addSomeInLanes(
  groups: Uint32Array,
  rows: Uint32Array,
  table: Float64Array,
  ids: Uint32Array,
  end: number,
): void {
  const lanes = numberLanes
  for (let at = 0; at < end; at += 4) {
    const firstRow = rows[at] as number
    const first = groups[firstRow] as number
    lanes[first] = (lanes[first] as number) + (table[ids[firstRow] as number] as number)
    const secondRow = rows[at + 1] as number
    const second = (groups[secondRow] as number) + WIDTH
    lanes[second] = (lanes[second] as number) + (table[ids[secondRow] as number] as number)
    const thirdRow = rows[at + 2] as number
    const third = (groups[thirdRow] as number) + 2 * WIDTH
    lanes[third] = (lanes[third] as number) + (table[ids[thirdRow] as number] as number)
    const fourthRow = rows[at + 3] as number
    const fourth = (groups[fourthRow] as number) + 3 * WIDTH
    lanes[fourth] = (lanes[fourth] as number) + (table[ids[fourthRow] as number] as number)
  }
}

function addRowsInLanes(groups: Uint32Array, rows: Uint32Array, table: Float64Array, end: number): void {
  const lanes = numberLanes
  for (let at = 0; at < end; at += 4) {
    const firstRow = rows[at] as number
    const first = groups[firstRow] as number
    lanes[first] = (lanes[first] as number) + (table[firstRow] as number)
    const secondRow = rows[at + 1] as number
    const second = (groups[secondRow] as number) + WIDTH
    lanes[second] = (lanes[second] as number) + (table[secondRow] as number)
    const thirdRow = rows[at + 2] as number
    const third = (groups[thirdRow] as number) + 2 * WIDTH
    lanes[third] = (lanes[third] as number) + (table[thirdRow] as number)
    const fourthRow = rows[at + 3] as number
    const fourth = (groups[fourthRow] as number) + 3 * WIDTH
    lanes[fourth] = (lanes[fourth] as number) + (table[fourthRow] as number)
  }
}
