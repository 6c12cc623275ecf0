import type * as PlotModule from '@observablehq/plot'
import { shownDigits } from '../../model/number.ts'
import type { PageContext } from '../../site/page-context.ts'
import { cutText } from '../parts/cut-text.ts'
import type { ChartData } from './data.ts'
import { type ChartKind, isAdditive, isContinuous } from './request.ts'

/** One value of a chart, with its position. */
export interface Piece {
  /** On the axis of the groups. */
  readonly from: number
  readonly to: number
  readonly middle: number
  /** On the value axis. */
  readonly low: number
  readonly high: number
  readonly value: number
  readonly series: number
  /** Index among the series of its group if they are drawn side by side. */
  readonly lane: number
  readonly title: string
  /** True if the group has no records: lines go through it, or end before it, and no point is drawn. */
  readonly isGap: boolean
}

/** Maximum characters of a label in the title of a piece. */
const MAX_TITLE = 1000

/** Positions the values: parts of a whole are stacked, others are side by side. */
export function piecesOf(
  data: ChartData,
  kind: ChartKind,
  pageContext: PageContext,
): { readonly pieces: readonly Piece[]; readonly low: number; readonly high: number } {
  const { request, series } = data
  const isLine = kind === 'line' || kind === 'area'
  const { slots, values } = isLine && isContinuous(request.axis) ? withGaps(data) : data
  // Nothing adds up to zero; averages of nothing interrupt a line.
  const missing = isAdditive(request) ? 0 : Number.NaN
  const isStacked = series.length > 1 && isAdditive(request) && kind !== 'line'
  const isGrouped = series.length > 1 && !isStacked && (kind === 'bar' || kind === 'column')
  const pieces = slots.flatMap((slot, at) => {
    const [start, end] = kind === 'bar' ? [at, at + 1] : [slot.from, slot.to]
    const ends = { up: 0, down: 0 }
    return (values[at] ?? []).flatMap((found, line): readonly Piece[] => {
      if (found === null && !isLine) return []
      const value = found ?? missing
      const lane = isGrouped ? line : 0
      const margin = request.axis.type === 'ranges' || request.axis.type === 'period' ? 0.02 : 0.12
      const [inner, width] = [start + (end - start) * margin, (end - start) * (1 - 2 * margin)]
      const part = isGrouped ? width / series.length : width
      const base = !isStacked ? 0 : value >= 0 ? ends.up : ends.down
      if (value >= 0) ends.up = base + value
      else ends.down = base + value
      const label = cutText(slot.label, MAX_TITLE)
      const name = series[line] === '' ? label : `${label}, ${series[line]}`
      return [
        {
          from: inner + lane * part,
          to: inner + (lane + 1) * part,
          middle: (start + end) / 2,
          low: Math.min(base, base + value),
          high: Math.max(base, base + value),
          value,
          series: line,
          lane,
          title: `${name}: ${pageContext.number(value, shownDigits(value, 3))}`,
          isGap: found === null,
        },
      ]
    })
  })
  const ends = pieces.flatMap(({ low, high }) => (Number.isNaN(low) ? [] : [low, high]))
  return { pieces, low: Math.min(0, ...ends), high: Math.max(0, ...ends) }
}

/**
 * The groups of a scale with those that have no records and are next to one that has: a line that led from one day with records to
 * the next would show values on the days between.
 */
function withGaps({ slots, values, series }: ChartData): Pick<ChartData, 'slots' | 'values'> {
  const nothing = series.map(() => null)
  const all = slots.flatMap((slot, at) => {
    const own = { slot, line: values[at] ?? nothing }
    const next = slots[at + 1]
    if (next === undefined || next.from <= slot.to) return [own]
    const gap = (from: number, to: number) => ({ slot: { label: '', from, to }, line: nothing })
    const end = Math.min(2 * slot.to - slot.from, next.from)
    const begin = Math.max(2 * next.from - next.to, end)
    return [own, gap(slot.to, end), ...(begin < next.from ? [gap(begin, next.from)] : [])]
  })
  return { slots: all.map(({ slot }) => slot), values: all.map(({ line }) => line) }
}

/** The marks of a kind of chart. */
export function plotLayers(
  plot: typeof PlotModule,
  pieces: readonly Piece[],
  kind: ChartKind,
  pageContext: PageContext,
  { series }: ChartData,
): readonly PlotModule.Markish[] {
  const colour = ({ series: at }: Piece) => `var(--series-${at + 1})`
  const points = pieces.filter(({ isGap }) => !isGap)
  const title = 'title'
  const zero = { stroke: 'currentColor', strokeOpacity: 0.5 }
  switch (kind) {
    case 'bar': {
      const bars = plot.rect(pieces, {
        y1: 'from',
        y2: 'to',
        x1: 'low',
        x2: 'high',
        fill: colour,
        title,
        rx: 2,
      })
      const formatted = (piece: Piece) =>
        pageContext.number(piece.value, { notation: 'compact', maximumSignificantDigits: 4 })
      const texts = { y: 'middle', text: formatted, fill: 'currentColor' } as const
      const named = [
        plot.text(
          pieces.filter(({ value }) => value >= 0),
          { ...texts, x: 'high', dx: 5, textAnchor: 'start' },
        ),
        plot.text(
          pieces.filter(({ value }) => value < 0),
          { ...texts, x: 'low', dx: -5, textAnchor: 'end' },
        ),
      ]
      return [bars, ...(series.length === 1 ? named : []), plot.ruleX([0], zero)]
    }
    case 'column':
      return [
        plot.rect(pieces, { x1: 'from', x2: 'to', y1: 'low', y2: 'high', fill: colour, title, rx: 1 }),
        plot.ruleY([0], zero),
      ]
    case 'line':
      return [
        plot.line(pieces, { x: 'middle', y: 'value', z: 'series', stroke: colour, strokeWidth: 2 }),
        plot.dot(points, {
          x: 'middle',
          y: 'value',
          r: points.length > 60 ? 2 : 3.5,
          fill: colour,
          title,
        }),
        plot.ruleY([0], zero),
      ]
    case 'area':
      return [
        plot.area(pieces, {
          x1: 'middle',
          y1: 'low',
          y2: 'high',
          z: 'series',
          fill: colour,
          fillOpacity: series.length > 1 ? 0.85 : 0.35,
        }),
        plot.line(pieces, {
          x: 'middle',
          y: series.length > 1 ? 'high' : 'value',
          z: 'series',
          stroke: colour,
          strokeWidth: 2,
        }),
        plot.dot(points, { x: 'middle', y: 'high', r: 2.5, fill: colour, title }),
        plot.ruleY([0], zero),
      ]
  }
}
