import client from '@opendatasoft/api-client'

const { ApiClient, fromCatalog, fromMonitoring, fromDataNetwork, field, string, all, not, list } = client
const [base = 'http://localhost:3000'] = process.argv.slice(2)
const api = new ApiClient({ domain: base })

/** Records of which an export is fetched and counted. */
const MOST_EXPORTED = 20_000

function expect(holds, what) {
  if (!holds) throw new Error(what)
}

async function expectFault(query, name, message) {
  const error = await api.get(query).then(
    () => null,
    fault => fault,
  )
  expect(message.test(String(error?.message)), `${name}: ${error?.message}`)
}

for (const [name, from] of Object.entries({ fromCatalog, fromMonitoring, fromDataNetwork })) {
  await api.get(from().itself())
  const { total_count: total, results } = await api.get(from().datasets().limit(100))
  expect(total > 0 && results.length === Math.min(total, 100), `${name}: ${results.length} of ${total}`)
  expect((await api.get(from().facets())).facets.length > 0, `${name}: facets`)
  expect((await api.get(from().export('json'))).length === total, `${name}: export`)
  for (const { dataset_id: id } of results) {
    const one = from().dataset(id)
    const { fields, metas } = await api.get(one.itself())
    const records = await api.get(one.records().limit(2))
    expect(
      records.total_count === metas.default.records_count,
      `${name} ${id}: ${records.total_count} records`,
    )
    await api.get(one.facets())
    const plain = fields.find(({ type }) => !type.startsWith('geo_'))
    const groups = await api.get(one.records().groupBy(field(plain.name)).select('count(*) as n').limit(3))
    expect(groups.results.length > 0 && groups.total_count === undefined, `${name} ${id}: groups`)
    if (records.total_count > MOST_EXPORTED) continue
    const exported = await api.get(one.export('json'))
    expect(exported.length === records.total_count, `${name} ${id}: ${exported.length} are exported`)
  }
}

const cities = fromCatalog().dataset('cities')
const largest = cities
  .records()
  .select(list('name', 'population'))
  .where(all('population > 1000000', not(`name = ${string('Shanghai')}`), "name like '%an%'"))
  .orderBy('population desc')
  .limit(5)
  .lang('en-US')
  .timezone('Europe/Zurich')
const { results } = await api.get(largest)
expect(
  results.every(({ name, population }) => name !== 'Shanghai' && population > 1_000_000),
  'the largest cities',
)
await expectFault(fromCatalog().dataset('nothing').itself(), 'unknown dataset', /NotFoundResource/)
await expectFault(cities.records().where('x ='), 'wrong clause', /ODSQLSyntaxError/)
console.log('fine')
