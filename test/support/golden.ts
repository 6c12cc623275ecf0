/** One case of golden/sparql.txt. */
export interface GoldenQuery {
  readonly where: string
  readonly orderBy: string
  readonly page: string
  readonly count: string
}

/** Reads cases of the form `# where | order_by`, page, count, blank line. */
export function readGolden(text: string): readonly GoldenQuery[] {
  return text
    .split(/^# /m)
    .slice(1)
    .map(block => {
      const [header = '', page = '', count = ''] = block.split('\n')
      const at = header.lastIndexOf('|')
      return { where: header.slice(0, at).trim(), orderBy: header.slice(at + 1).trim(), page, count }
    })
}
