import * as Plot from '@observablehq/plot'
import { shownDigits } from '../../../model/number.ts'
import { chartColumns, chartPoints } from './chart-columns.ts'
import type { MessageRow } from './query-messages.ts'

/** Texts of a chart, and the language of its numbers and dates. */
interface ChartStyle {
  readonly texts: { readonly chart: string; readonly noValue: string }
  readonly language: string
}

const DAY = 86_400_000

/** A year, a month, a day or a time: the shortest that names a moment of an axis. */
function momentText(moment: Date, language: string): string {
  const [isDay, isMonth] = [moment.getTime() % DAY === 0, moment.getUTCDate() === 1]
  const isYear = isDay && isMonth && moment.getUTCMonth() === 0
  return new Intl.DateTimeFormat(language, {
    year: 'numeric',
    ...(isYear ? {} : { month: 'short' }),
    ...(isDay && isMonth ? {} : { day: 'numeric' }),
    ...(isDay ? {} : { hour: '2-digit', minute: '2-digit' }),
    timeZone: 'UTC',
  }).format(moment)
}

/** Draws the numbers of an answer: over time as a line, by name as bars, against each other as points. */
export function drawAnswerChart(
  variables: readonly string[],
  rows: readonly MessageRow[],
  { texts, language }: ChartStyle,
  name: (iri: string) => string,
): Element | null {
  const columns = chartColumns(variables, rows)
  if (columns === null) return null
  const { x, y, type } = columns
  const data = chartPoints(columns, rows, name, texts.noValue)
  const number = (value: number) => new Intl.NumberFormat(language, shownDigits(value, 6)).format(value)
  const day = (value: Date) => momentText(value, language)
  const mark =
    type === 'bar'
      ? Plot.barX(data, { x: 'y', y: 'x', fill: 'currentColor', tip: { format: { x: number } } })
      : type === 'line'
        ? Plot.lineY(data, { x: 'x', y: 'y', sort: 'x', tip: { format: { x: day, y: number } } })
        : Plot.dot(data, { x: 'x', y: 'y', r: 3, tip: { format: { x: number, y: number } } })
  const [across, up] = type === 'bar' ? [variables[y], null] : [variables[x], variables[y]]
  const drawing = Plot.plot({
    marks: [mark],
    width: 800,
    ...(type === 'bar' ? { marginLeft: 180, height: 60 + 22 * data.length } : { height: 400 }),
    x: { label: across ?? null, grid: true, tickFormat: type === 'line' ? day : number },
    y: {
      label: up ?? null,
      ...(type === 'bar' ? { domain: data.map(({ x }) => x) } : { tickFormat: number }),
    },
    ariaLabel: texts.chart,
  })
  // Groups have no role that a name belongs to.
  for (const part of drawing.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label')
  drawing.setAttribute('role', 'img')
  drawing.setAttribute('class', 'answer-chart')
  // The policy of the page forbids inline styles: those of the page suffice.
  drawing.querySelector('style')?.remove()
  return drawing
}
