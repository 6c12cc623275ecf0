import type { ServedDataset } from '../catalog/served.ts'
import { type Field, isNumeric } from '../model/field.ts'

/** A question of the warm-up: an address of the Explore API that differs each turn. */
export type WarmUpQuestion = (turn: number) => string
type Parameters = (turn: number) => Readonly<Record<string, string>>

/** Maximum offset that is requested: the API has a limit. */
const PAGES = 9000

/** Questions about lists of a number of datasets. */
export function catalogQuestions(path: string, datasets: number): readonly WarmUpQuestion[] {
  const list = (make: Parameters): WarmUpQuestion => {
    return turn => `${path}/catalog/datasets?${new URLSearchParams({ ...make(turn), limit: '20' })}`
  }
  return [
    list(turn => ({ offset: String((turn * 7) % datasets) })),
    list(turn => ({ where: `"${letters(turn)}*"` })),
    list(turn => ({ where: `records_count > ${turn}`, order_by: 'modified desc' })),
    turn => `${path}/catalog/facets?${new URLSearchParams({ where: `records_count > ${turn}` })}`,
  ]
}

/** Questions about the records of a dataset. */
export function datasetQuestions(path: string, { dataset }: ServedDataset): readonly WarmUpQuestion[] {
  const place = `${path}/catalog/datasets/${encodeURIComponent(dataset.id)}`
  return questionsOf(dataset.fields).map(question => turn => `${place}/${question(turn)}`)
}

/** Questions with the operators that clients of portals use most, with different constants each turn. */
export function questionsOf(fields: readonly Field[]): readonly WarmUpQuestion[] {
  const [number] = namesOf(fields, ({ type }) => isNumeric(type))
  const [text] = namesOf(fields, ({ type, multivalued }) => type === 'text' && !multivalued)
  const [place] = namesOf(fields, ({ type }) => type === 'geo_point_2d')
  const facets = namesOf(fields, ({ annotations }) => annotations.facet !== undefined)
  const [key, second] = facets
  const questions = [
    () => ({ limit: '20' }),
    (turn: number) => ({ where: `"${letters(turn)}*"`, limit: '20' }),
    ...(number === undefined ? [] : numberQuestions(number)),
    ...(text === undefined ? [] : textQuestions(text)),
    ...(place === undefined ? [] : placeQuestions(place)),
    ...(number === undefined || key === undefined ? [] : groupQuestions(number, key, second)),
    ...(number === undefined || text === undefined || key === undefined
      ? []
      : mixedQuestions(number, text, key)),
  ].map(parameters => (turn: number) => `records?${new URLSearchParams(parameters(turn))}`)
  const list = facets.slice(0, 3).map(name => ['facet', name.slice(1, -1)])
  const filter = (turn: number) => (number === undefined ? [] : [['where', `${number} > ${turn}`]])
  if (list.length > 0) questions.push(turn => `facets?${new URLSearchParams([...list, ...filter(turn)])}`)
  return questions
}

/** Names of fields as ODSQL quotes them. */
function namesOf(fields: readonly Field[], isMeant: (field: Field) => boolean): readonly string[] {
  return fields.filter(isMeant).map(({ name }) => `\`${name}\``)
}

function numberQuestions(number: string): readonly Parameters[] {
  return [
    turn => ({ where: `${number} > ${turn}`, limit: '0' }),
    turn => ({ where: `${number} > ${turn}`, order_by: `${number} desc`, limit: '10' }),
    turn => ({
      select: `${number} * 2 as doubled`,
      order_by: `${number} + 1`,
      limit: '20',
      offset: String(turn % PAGES),
    }),
  ]
}

function textQuestions(text: string): readonly Parameters[] {
  return [
    turn => ({ order_by: text, limit: '20', offset: String(turn % PAGES) }),
    turn => ({ where: `${text} like "*${letters(turn)}*"`, limit: '20' }),
  ]
}

function placeQuestions(place: string): readonly Parameters[] {
  const corner = (turn: number) => [((turn * 37) % 160) - 80, ((turn * 61) % 340) - 170] as const
  return [
    turn => {
      const [lat, lon] = corner(turn)
      return { where: `in_bbox(${place}, ${lat}, ${lon}, ${lat + 5}, ${lon + 5})`, limit: '20' }
    },
    turn => {
      const [lat, lon] = corner(turn)
      return {
        where: `within_distance(${place}, geom'POINT(${lon} ${lat})', ${90 + (turn % 20)}km)`,
        limit: '20',
      }
    },
    turn => {
      const [lat, lon] = corner(turn)
      const shape = `POLYGON((${lon} ${lat}, ${lon + 4} ${lat}, ${lon + 2} ${lat + 3}, ${lon} ${lat}))`
      return { where: `within(${place}, geom'${shape}')`, limit: '20' }
    },
  ]
}

function groupQuestions(number: string, key: string, second: string | undefined): readonly Parameters[] {
  const groups = (select: string, keys: string): Parameters => {
    return turn => ({ select, where: `${number} > ${turn}`, group_by: keys, limit: '1000' })
  }
  const sums = `sum(${number}) as s, avg(${number}) as a, max(${number}) as m, count(*) as n`
  return [
    groups(sums, key),
    groups(`median(${number}) as m, count(distinct ${number}) as d`, key),
    ...(second === undefined ? [] : [groups('count(*) as n', `${key}, ${second}`)]),
  ]
}

function mixedQuestions(number: string, text: string, key: string): readonly Parameters[] {
  return [
    turn => ({ where: `${number} > ${turn}`, order_by: text, limit: '20' }),
    turn => ({
      where: `(${key} in ("${letters(turn)}", "${letters(turn + 1)}") or ${number} > ${turn}) and not ${key} = "a"`,
      limit: '20',
    }),
  ]
}

/** Two letters that texts may contain. */
function letters(turn: number): string {
  return String.fromCharCode(97 + (turn % 26), 97 + ((turn * 7) % 26))
}
