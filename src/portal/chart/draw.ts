import type * as PlotModule from '@observablehq/plot'
import type { Html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { cutText } from '../parts/cut-text.ts'
import type { ChartData } from './data.ts'
import { aggregateLabel, axisLabel, periodLabel, valueLabel } from './labels.ts'
import { piecesOf, plotLayers } from './pieces.ts'
import { type ChartKind, isAdditive, isContinuous, type Period } from './request.ts'

/** The sizes of a drawn chart: style sheets show the one that suits the screen. */
const SIZES = { wide: { width: 900, font: 13 }, narrow: { width: 380, font: 12 } } as const
type Size = keyof typeof SIZES

type Plot = typeof PlotModule
type Drawing = { readonly plot: Plot; readonly document: Document }

let drawing: Promise<Drawing> | null = null

/** Loads Plot and a document to draw in with the first chart, for no other page needs them. */
function loadDrawing(): Promise<Drawing> {
  drawing ??= Promise.all([import('@observablehq/plot'), import('linkedom')]).then(
    ([plot, { parseHTML }]) => ({
      plot,
      document: parseHTML('<html><body></body></html>').document as unknown as Document,
    }),
  )
  return drawing
}

/** Draws a chart as SVG, once for wide and once for narrow screens. */
export async function drawChart(pageContext: PageContext, data: ChartData): Promise<Html> {
  const { plot, document } = await loadDrawing()
  return {
    html: (['wide', 'narrow'] as const)
      .map(size => svgText(pageContext, data, plot, document, size))
      .join('\n'),
  }
}

function svgText(
  pageContext: PageContext,
  data: ChartData,
  plot: Plot,
  document: Document,
  size: Size,
): string {
  const { width, font } = SIZES[size]
  const { request, slots } = data
  const kind = kindOf(data)
  const isLying = kind === 'bar'
  const { pieces, low, high } = piecesOf(data, kind, pageContext)
  const isContinuousAxis = isContinuous(request.axis) && !isLying
  const labels = slots.map(({ label }) => cutText(label, size === 'wide' ? 30 : 17))
  const maxLength = Math.max(0, ...labels.map(label => label.length))
  const widths = [low, high].map(value => compact(pageContext, value).length)
  const room = font * 0.6
  const lanes = isLying && pieces.some(({ lane }) => lane > 0) ? data.series.length : 1
  const slotWidth = (width - 60) / Math.max(1, slots.length)
  const rotated = !isLying && !isContinuousAxis && maxLength * room > slotWidth
  // Labels at an angle of 40 degrees that would cover one another stand upright, and some are left out where even that is too narrow.
  const isUpright = slotWidth * 0.64 < font
  const every = Math.ceil(font / slotWidth)
  const steps = size === 'wide' ? 8 : 4
  // Numbers of records have no fractions.
  const valueAxis = {
    label: aggregateLabel(pageContext, request.aggregate, request.of),
    labelArrow: 'none',
    tickFormat: (value: number) => compact(pageContext, value),
    ticks: request.aggregate === 'count' ? Math.min(steps, Math.max(1, high)) : steps,
    grid: true,
    domain: [Math.min(0, low), Math.max(high, low === 0 && high === 0 ? 1 : 0)],
    nice: true,
  }
  const margins = isLying
    ? {
        marginLeft: 12 + maxLength * room,
        marginRight: 20 + (data.series.length === 1 ? Math.max(...widths) * room : 0),
        marginTop: 8,
        marginBottom: 44,
      }
    : {
        marginLeft: 18 + Math.max(...widths, 3) * room,
        marginRight: 24,
        marginTop: 34,
        marginBottom: rotated ? 34 + Math.min(maxLength, 20) * room * (isUpright ? 1 : 0.7) : 44,
      }
  const places = isLying
    ? slots.map((_, at) => [at, at + 1] as const)
    : slots.map(({ from, to }) => [from, to] as const)
  const [first, last] = [Math.min(...places.map(([from]) => from)), Math.max(...places.map(([, to]) => to))]
  const across = width - margins.marginLeft - margins.marginRight
  const axisOfGroups = {
    label: isLying ? null : axisLabel(pageContext, request.axis),
    labelArrow: 'none',
    labelAnchor: 'center',
    ...(isContinuousAxis && request.axis.type === 'period' ? { type: 'utc' } : {}),
    domain: [first, last],
    ...(isContinuousAxis
      ? scaleTicks(pageContext, data, plot, steps, {
          first,
          last,
          width: across / room,
          margins: [margins.marginLeft / room, margins.marginRight / room],
        })
      : {
          ticks: slots.flatMap((_, at) => (isLying || at % every === 0 ? [at + 0.5] : [])),
          tickFormat: (value: number) => labels[Math.floor(value)] ?? '',
          ...(rotated ? { tickRotate: isUpright ? -90 : -40 } : {}),
        }),
    tickSize: 0,
    line: false,
  }
  const rows = isLying
    ? Math.max(slots.length * (lanes > 1 ? lanes * 9 + 10 : 25), 60)
    : size === 'wide'
      ? 330
      : 250
  const options = {
    document,
    width,
    height: rows + margins.marginTop + margins.marginBottom,
    ...margins,
    x: isLying ? { ...valueAxis, labelAnchor: 'center' } : axisOfGroups,
    y: isLying ? { ...axisOfGroups, reverse: true } : valueAxis,
    marks: plotLayers(plot, pieces, kind, pageContext, data),
  } as unknown as PlotModule.PlotOptions
  const svg = plot.plot(options) as unknown as Element
  return cleaned(
    svg,
    size,
    font,
    `${aggregateLabel(pageContext, request.aggregate, request.of)} · ${axisLabel(pageContext, request.axis)}`,
  )
}

/** The kind to draw: areas that cannot be stacked become lines. */
function kindOf({ request, series }: ChartData): ChartKind {
  return request.kind === 'area' && series.length > 1 && !isAdditive(request) ? 'line' : request.kind
}

/** The policy of pages allows no styles in markup: those of charts are in the style sheet. */
function cleaned(svg: Element, size: Size, font: number, label: string): string {
  for (const style of svg.querySelectorAll('style')) style.remove()
  for (const styled of svg.querySelectorAll('[style]')) styled.removeAttribute('style')
  for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label')
  // The attribute of SVG does not support this CSS value: it is in the style sheet.
  for (const part of svg.querySelectorAll('[font-variant]')) part.removeAttribute('font-variant')
  for (const part of svg.querySelectorAll('[class]'))
    if (/plot-/.test(part.getAttribute('class') ?? '')) part.removeAttribute('class')
  svg.removeAttribute('style')
  svg.setAttribute('class', `chart ${size}`)
  svg.setAttribute('font-size', String(font))
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', label)
  return svg.outerHTML
}

function compact(pageContext: PageContext, value: number): string {
  return pageContext.number(value, { notation: 'compact', maximumSignificantDigits: 4 })
}

/** The ticks of a scale of numbers or of time. */
function scaleTicks(
  pageContext: PageContext,
  { request: { axis } }: ChartData,
  plot: Plot,
  steps: number,
  scale: TimeScale,
): object {
  if (axis.type !== 'period') {
    const write = (value: number) => valueLabel(pageContext, value, axis.field)
    const maxLength = Math.max(write(scale.first).length, write(scale.last).length)
    // A scale of numbers may have some ticks more than requested.
    return { ticks: Math.min(steps, scale.width / (maxLength + 2) / 1.4), tickFormat: write }
  }
  const ticks = timeTicks(plot, pageContext, axis.period, scale)
  return {
    ticks: ticks.map(({ at }) => new Date(at)),
    tickFormat: (value: Date) => ticks.find(({ at }) => at === value.getTime())?.label ?? '',
  }
}

/** The scale that ticks stand on: its domain in milliseconds, its width and margins in the unit of the width of a character. */
interface TimeScale {
  readonly first: number
  readonly last: number
  readonly width: number
  readonly margins: readonly [left: number, right: number]
}

interface Tick {
  readonly at: number
  readonly label: string
}

/** Intervals of ticks, ascending, with the period whose label they have. */
const INTERVALS = [
  ['hour', 'hour'],
  ['3 hours', 'hour'],
  ['6 hours', 'hour'],
  ['12 hours', 'hour'],
  ['day', 'day'],
  ['2 days', 'day'],
  ['monday', 'day'],
  ['month', 'month'],
  ['3 months', 'month'],
  ['6 months', 'month'],
  ['year', 'year'],
  ['2 years', 'year'],
  ['5 years', 'year'],
  ['10 years', 'year'],
  ['20 years', 'year'],
  ['50 years', 'year'],
  ['100 years', 'year'],
  ['500 years', 'year'],
] as const satisfies readonly (readonly [PlotModule.LiteralTimeInterval, Period])[]

/** The interval of each period of an axis, which its ticks are not shorter than. */
const SHORTEST: Readonly<Record<Period, (typeof INTERVALS)[number][0]>> = {
  hour: 'hour',
  day: 'day',
  week: 'monday',
  month: 'month',
  quarter: '3 months',
  year: 'year',
}

/** Maximum ticks of an axis with room for more. */
const MAX_TICKS = 12
/** Characters between two labels. */
const GAP = 2

/**
 * The ticks of an axis of time: as many as have room for their labels side by side. Each stands in the middle of a period, as
 * its value does.
 */
export function timeTicks(
  plot: Pick<typeof PlotModule, 'utcInterval'>,
  pageContext: PageContext,
  period: Period,
  scale: TimeScale,
): readonly Tick[] {
  const { first, last, width, margins } = scale
  const shortest = INTERVALS.findIndex(([name]) => name === SHORTEST[period])
  const one = plot.utcInterval(SHORTEST[period])
  let finer: readonly Tick[] = []
  for (const [at, [name, label]] of INTERVALS.entries()) {
    if (at < shortest) continue
    const interval = plot.utcInterval(name)
    if ((last - first) / (interval.offset(new Date(first), 1).getTime() - first) > 4 * MAX_TICKS) continue
    const starts = interval.range(new Date(first), new Date(last))
    const ticks = starts.map(start => {
      const from = start.getTime()
      const end = one.offset(start, 1).getTime()
      return { at: (from + end) / 2, label: periodLabel(pageContext, from, at === shortest ? period : label) }
    })
    const maxLength = Math.max(...ticks.map(tick => tick.label.length))
    const max = Math.min(MAX_TICKS, width / (maxLength + GAP))
    if (ticks.length > max) {
      finer = ticks
      continue
    }
    const place = (tick: Tick) => ((tick.at - first) / (last - first)) * width
    const hasRoom = (tick: Tick) =>
      place(tick) + margins[0] >= tick.label.length / 2 &&
      width - place(tick) + margins[1] >= tick.label.length / 2
    const shown = ticks.filter(hasRoom)
    // One tick makes no scale: of two or more shorter intervals together there are others.
    const every = Math.ceil(finer.length / max)
    const others = finer.filter(hasRoom).filter((_, index) => index % every === 0)
    return shown.length < 2 && others.length > shown.length ? others : shown
  }
  return []
}
