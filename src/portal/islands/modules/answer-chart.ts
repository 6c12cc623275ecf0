import * as Plot from '@observablehq/plot'
import { chartColumns, chartPoints } from './chart-columns.ts'
import type { MessageRow } from './query-messages.ts'

/** Draws the numbers of an answer: over time as a line, by name as bars, against each other as points. */
export function drawAnswerChart(
  variables: readonly string[],
  rows: readonly MessageRow[],
  texts: { readonly chart: string; readonly noValue: string },
  name: (iri: string) => string,
): Element | null {
  const columns = chartColumns(variables, rows)
  if (columns === null) return null
  const { x, y, type } = columns
  const data = chartPoints(columns, rows, name, texts.noValue)
  const mark =
    type === 'bar'
      ? Plot.barX(data, { x: 'y', y: 'x', fill: 'currentColor', tip: true })
      : type === 'line'
        ? Plot.lineY(data, { x: 'x', y: 'y', sort: 'x', tip: true })
        : Plot.dot(data, { x: 'x', y: 'y', r: 3, tip: true })
  const [across, up] = type === 'bar' ? [variables[y], null] : [variables[x], variables[y]]
  const drawing = Plot.plot({
    marks: [mark],
    width: 800,
    ...(type === 'bar' ? { marginLeft: 180, height: 60 + 22 * data.length } : { height: 400 }),
    x: { label: across ?? null, grid: true },
    y: { label: up ?? null, ...(type === 'bar' ? { domain: data.map(({ x }) => x) } : {}) },
    ariaLabel: texts.chart,
  })
  drawing.setAttribute('role', 'img')
  drawing.setAttribute('class', 'answer-chart')
  // The policy of the page forbids inline styles: those of the page suffice.
  drawing.querySelector('style')?.remove()
  return drawing
}
