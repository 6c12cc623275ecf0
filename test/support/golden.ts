/** One case of golden/sparql.txt: the clauses of a query and the statements that it may be answered with. */
export interface GoldenQuery {
  readonly clauses: Readonly<Record<string, string>>
  readonly statements: Readonly<Record<string, string>>
}

/**
 * Reads cases that are parted by blank lines: lines `name: clause`, then for each statement a line `> name` and one of
 * SPARQL.
 */
export function readGolden(text: string): readonly GoldenQuery[] {
  return text
    .split(/\n\n+/)
    .filter(block => block.trim() !== '')
    .map(block => {
      const lines = block.trim().split('\n')
      const first = lines.findIndex(line => line.startsWith('> '))
      const clauses = lines.slice(0, first < 0 ? undefined : first).map(line => pair(line, ': '))
      const statements = lines.flatMap((line, index): (readonly [string, string])[] =>
        line.startsWith('> ') ? [[line.slice(2), lines[index + 1] ?? '']] : [],
      )
      return { clauses: Object.fromEntries(clauses), statements: Object.fromEntries(statements) }
    })
}

export function writeGolden(queries: readonly GoldenQuery[]): string {
  return queries
    .map(({ clauses, statements }) =>
      [
        ...Object.entries(clauses).map(([name, clause]) => `${name}: ${clause}`),
        ...Object.entries(statements).map(([name, sparql]) => `> ${name}\n${sparql}`),
      ].join('\n'),
    )
    .join('\n\n')
    .concat('\n')
}

function pair(line: string, separator: string): readonly [string, string] {
  const at = line.indexOf(separator)
  return at < 0 ? [line.replace(/:$/, ''), ''] : [line.slice(0, at), line.slice(at + separator.length)]
}
