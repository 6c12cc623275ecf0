import { readFileSync } from 'node:fs'
import path from 'node:path'
import { BASE } from './portal.ts'

const SHORT: Readonly<Record<string, string>> = {
  '{base}': BASE,
  '{label}': 'http://www.w3.org/2000/01/rdf-schema#label',
  '{type}': 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type',
}

const TABLES = new Map(
  readFileSync(path.join(import.meta.dirname, 'tables.txt'), 'utf8')
    .replaceAll(/\{(?:base|label|type)\}/g, name => SHORT[name] ?? name)
    .split(/^== /m)
    .slice(1)
    .map(section => {
      const [name = '', ...lines] = section.trimEnd().split('\n')
      return [name, lines.map(line => (line === '(nothing)' ? '' : line))] as const
    }),
)

/** The lines of a table of tables.txt. */
export function table(name: string): readonly string[] {
  const found = TABLES.get(name)
  if (found === undefined) throw new Error(`tables.txt has no table ${name}`)
  return found
}

/** The lines of a table whose lines are parameters as people write them, encoded for addresses. */
export function queries(name: string): readonly string[] {
  return table(name).map(line => line.split('&').map(encoded).join('&'))
}

/** A parameter `name=value` with its value encoded. */
function encoded(pair: string): string {
  const at = pair.indexOf('=') + 1
  return at === 0 ? pair : `${pair.slice(0, at)}${encodeURIComponent(pair.slice(at))}`
}

/** Words between blanks. */
export function words(text: string): readonly string[] {
  return text.split(' ')
}
