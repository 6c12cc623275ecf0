import type { LinkParameters } from '../../site/page-context.ts'

/** A short program that makes a call. */
export interface Snippet {
  readonly title: string
  readonly text: string
}

/** The input of a snippet. */
export interface SnippetCall {
  /** The address without its parameters, and with them. */
  readonly address: string
  readonly whole: string
  readonly parameters: LinkParameters
  /** True if the call needs a key. */
  readonly isRestricted: boolean
}

const KEY = 'YOUR-API-KEY'

/** The same call in languages for data analysis. */
export function snippetsOf(call: SnippetCall): readonly Snippet[] {
  return [
    { title: 'curl', text: curl(call) },
    { title: 'JavaScript', text: javascript(call) },
    { title: 'Python', text: python(call) },
    { title: 'R', text: r(call) },
  ]
}

function curl({ whole, isRestricted }: SnippetCall): string {
  const header = isRestricted ? ` -H 'Authorization: Apikey ${KEY}'` : ''
  return `curl${header} '${whole.replaceAll("'", '%27')}'`
}

function javascript({ address, parameters, isRestricted }: SnippetCall): string {
  const pairs = pairsOf(parameters)
  const query = pairs
    .map(([name, value]) => `  [${JSON.stringify(name)}, ${JSON.stringify(value)}],\n`)
    .join('')
  const headers = isRestricted ? `, {\n  headers: { Authorization: 'Apikey ${KEY}' },\n}` : ''
  const url = pairs.length === 0 ? JSON.stringify(address) : `\`${address}?\${query}\``
  return `${query === '' ? '' : `const query = new URLSearchParams([\n${query}])\n`}const response = await fetch(${url}${headers})
const { ${parameters.group_by ? '' : 'total_count, '}results } = await response.json()`
}

function python({ address, parameters, isRestricted }: SnippetCall): string {
  const query = pairsOf(parameters)
    .map(([name, value]) => `    (${JSON.stringify(name)}, ${JSON.stringify(value)}),\n`)
    .join('')
  const headers = isRestricted ? `, headers={"Authorization": "Apikey ${KEY}"}` : ''
  return `import requests

${query === '' ? '' : `query = [\n${query}]\n`}answer = requests.get("${address}"${query === '' ? '' : ', params=query'}${headers})
answer.raise_for_status()
records = answer.json()["results"]`
}

function r({ whole, isRestricted }: SnippetCall): string {
  const url = JSON.stringify(whole)
  if (!isRestricted) return `library(jsonlite)\n\nrecords <- fromJSON(${url})$results`
  return `library(httr2)

records <- request(${url}) |>
  req_headers(Authorization = "Apikey ${KEY}") |>
  req_perform() |>
  resp_body_json(simplifyVector = TRUE) |>
  _$results`
}

function pairsOf(parameters: LinkParameters): readonly (readonly [string, string])[] {
  return Object.entries(parameters).flatMap(([name, given]) =>
    (Array.isArray(given) ? (given as readonly string[]) : [given]).flatMap(value =>
      value === undefined || value === '' ? [] : [[name, String(value)] as const],
    ),
  )
}
