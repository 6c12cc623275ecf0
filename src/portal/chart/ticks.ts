import type * as PlotModule from '@observablehq/plot'
import type { PageContext } from '../../site/page-context.ts'
import type { Period } from './axes.ts'
import { periodLabel } from './labels.ts'

/** The scale that ticks stand on: its domain in milliseconds, its width and margins in the unit of the width of a character. */
export interface TimeScale {
  readonly first: number
  readonly last: number
  readonly width: number
  readonly margins: readonly [left: number, right: number]
}

export interface Tick {
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
