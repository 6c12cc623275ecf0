/** One figure of the benchmark. */
export interface Row {
  readonly what: string
  readonly value: string
  /** What it is held to, and whether it holds; absent where nothing is asked. */
  readonly bar?: string
  readonly met?: boolean
}

/** Prints the figures as an aligned table. */
export function printTable(rows: readonly Row[]): void {
  const width = (text: (row: Row) => string) => Math.max(...rows.map(row => text(row).length))
  const [first, second] = [width(row => row.what), width(row => row.value)]
  for (const { what, value, bar, met } of rows) {
    const verdict = bar === undefined ? '' : `${met === true ? 'met    ' : 'NOT MET'} ${bar}`
    process.stdout.write(`${what.padEnd(first)}  ${value.padStart(second)}  ${verdict}`.trimEnd())
    process.stdout.write('\n')
  }
}

/** A figure with a lower bar. */
export function atLeast(what: string, value: number, bar: number, unit: string): Row {
  return { what, value: `${whole(value)} ${unit}`, bar: `at least ${whole(bar)} ${unit}`, met: value >= bar }
}

/** A figure with an upper bar. */
export function under(what: string, value: number, bar: number, unit: string, digits = 1): Row {
  return { what, value: `${value.toFixed(digits)} ${unit}`, bar: `under ${bar} ${unit}`, met: value < bar }
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** The value that a part of the measurements does not exceed. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}
