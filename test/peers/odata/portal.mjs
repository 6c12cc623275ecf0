/** What the portal says through Explore, and how values that came another way are held against it. */

/** The data sets of a portal with the types of their fields. */
export async function datasetsOf(base) {
  const answer = await json(`${base}/api/explore/v2.1/catalog/datasets?limit=100`)
  return answer.results.map(({ dataset_id: id, fields }) => ({
    id,
    fields: fields.map(({ name, type, annotations }) => ({
      name,
      type,
      many: 'multivalued' in (annotations ?? {}),
    })),
  }))
}

/** All records of a data set in the order of the source. */
export const exported = (base, id) => json(`${base}/api/explore/v2.1/catalog/datasets/${id}/exports/json`)

async function json(url) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${response.status} ${url}`)
  return readJson(await response.text())
}

/** JSON whose integers are their digits where a number rounds them. */
export function readJson(text) {
  const long = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g
  return JSON.parse(text.replace(long, found => (found.startsWith('"') ? found : `"${found}"`)))
}

/**
 * What two readings of a data set have in common: how many values were held against one another, and the first that
 * differs. Every client has types of its own, so that `17`, `"17"` and `17n` are the same integer.
 */
export class Comparison {
  records = 0
  values = 0
  difference = null

  constructor({ id, fields }, wanted) {
    this.dataset = id
    this.fields = fields
    this.wanted = wanted
  }

  /** Takes the next record of a client, with a way to get a property of it. */
  take(record, of = name => record[name]) {
    const wanted = this.wanted[this.records]
    this.records += 1
    if (wanted === undefined || this.difference !== null) return
    if (typeof of('recordid') !== 'string') this.difference = `record ${this.records} has no recordid`
    for (const field of this.fields) {
      this.values += 1
      const own = of(field.name)
      // A name that is no identifier of OData has an underscore before it.
      const found = own === undefined ? of(`_${field.name}`) : own
      if (same(found, wanted[field.name], field)) continue
      this.difference = `record ${this.records}, ${field.name}: ${shown(found)} instead of ${shown(wanted[field.name])}`
      return
    }
  }

  /** What is wrong with the data set as a whole, if anything. */
  verdict() {
    if (this.difference !== null) return `${this.dataset}: ${this.difference}`
    if (this.records === this.wanted.length) return null
    return `${this.dataset}: ${this.records} records instead of ${this.wanted.length}`
  }
}

const shown = value =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each))?.slice(0, 200)

function same(found, wanted, { type, many }) {
  if (found === undefined) return false
  if (many) return sameList(found, wanted ?? [])
  if (found === null || wanted === null) return found === wanted
  switch (type) {
    case 'int':
      return typeof found !== 'boolean' && BigInt(found) === BigInt(wanted)
    case 'double':
      return Number(found) === Number(wanted)
    case 'date':
      return dayOf(found) === wanted
    case 'datetime':
      return momentOf(found) === Date.parse(wanted)
    case 'geo_point_2d':
      return Number(found.latitude) === wanted.lat && Number(found.longitude) === wanted.lon
    case 'geo_shape':
      return sameTree(typeof found === 'string' ? JSON.parse(found) : found, wanted.geometry ?? wanted)
    default:
      return found === wanted
  }
}

function sameList(found, wanted) {
  const list = Array.isArray(found) ? found : found?.results
  return (
    Array.isArray(list) &&
    list.length === wanted.length &&
    list.every((item, index) => item === wanted[index])
  )
}

function sameTree(found, wanted) {
  if (typeof found !== 'object' || found === null || wanted === null) return found === wanted
  const names = Object.keys(wanted)
  return (
    names.length === Object.keys(found).length && names.every(name => sameTree(found[name], wanted[name]))
  )
}

/** A date of any client as `YYYY-MM-DD`. */
function dayOf(found) {
  if (typeof found === 'object' && typeof found.format === 'function') return found.format('YYYY-MM-DD')
  return (typeof found === 'object' ? found.toISOString() : String(found)).slice(0, 10)
}

/** A moment of any client as milliseconds since 1970. */
function momentOf(found) {
  if (typeof found === 'object') return found.valueOf()
  const text = String(found)
  return Date.parse(/(Z|[-+]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
}
