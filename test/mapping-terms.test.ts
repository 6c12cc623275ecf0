import t from 'tap'
import { isLatitude, isLongitude, NAMESPACES, TERMS, termNamed } from '../src/mapping/init/terms.ts'
import { FIELD_TYPES } from '../src/model/field.ts'

/** The properties that names of fields stand for in a first mapping. */
t.test('a name stands for a property that takes its type, at a kind of resource that it fits', async t => {
  const rows: readonly (readonly [
    names: string,
    type: Parameters<typeof termNamed>[1],
    family: Parameters<typeof termNamed>[2],
    predicate: string | undefined,
  ])[] = [
    ['titre', 'text', 'place', 'schema:name'],
    ['titre', 'int', 'place', undefined],
    ['nothing_known titel', 'text', 'thing', 'schema:name'],
    ['website', 'text', 'thing', 'schema:url'],
    ['logo', 'text', 'organization', 'schema:logo'],
    ['logo', 'text', 'place', undefined],
    ['language', 'text', 'work', 'schema:inLanguage'],
    ['language', 'text', 'place', 'dc11:language'],
    ['telephone', 'int', 'thing', 'schema:telephone'],
    ['telephone', 'double', 'thing', undefined],
    ['isbn', 'text', 'product', undefined],
    ['constructor', 'text', 'thing', undefined],
    ['', 'text', 'thing', undefined],
  ]
  for (const [names, type, family, predicate] of rows)
    t.equal(termNamed(names.split(' '), type, family)?.predicate, predicate, `${names} ${type} ${family}`)
})

t.test('names of coordinates', async t => {
  for (const [names, latitude, longitude] of [
    ['lat', true, false],
    ['x latitude', true, false],
    ['lng', false, true],
    ['langengrad', false, true],
    ['y_wgs84', true, false],
    ['x_wgs84', false, true],
    ['late', false, false],
  ] as const)
    t.same([isLatitude(names.split(' ')), isLongitude(names.split(' '))], [latitude, longitude], names)
})

t.test('every property can be found by its first name, and its prefix is known', async t => {
  const known = new Set([
    ...Object.keys(NAMESPACES),
    'schema',
    'dc11',
    'dcterms',
    'foaf',
    'org',
    'rdfs',
    'skos',
  ])
  for (const { predicate, names, types, categories } of TERMS) {
    t.ok(names.length > 0 && types.every(type => FIELD_TYPES.includes(type)), predicate)
    t.match(names.join(' '), /^[a-z0-9_]+(?: [a-z0-9_]+)*$/, `${predicate}: lower case, without accents`)
    t.ok(known.has(predicate.split(':')[0] ?? ''), predicate)
    const found = names.some(name =>
      types.some(type => termNamed([name], type, categories?.[0] ?? 'thing')?.predicate === predicate),
    )
    t.ok(found, `${predicate} is behind no other under all of its names`)
  }
})
