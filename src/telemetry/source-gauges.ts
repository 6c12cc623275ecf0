import { Gauge, type Registry } from 'prom-client'

/** The state of the address of a dataset. */
export interface SourceAge {
  readonly dataset: string
  /** True if everybody may know of the dataset. */
  readonly isPublic: boolean
  /** Seconds since it last answered; null before the first successful response. */
  readonly age: number | null
  /** Failures since then. */
  readonly failures: number
}

/** Registers the gauges of the addresses of datasets, whose labels are names of datasets. */
export function gaugeSources(registry: Registry, sources: () => readonly SourceAge[]): void {
  const gauge = (name: string, help: string, measured: (source: SourceAge) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['dataset'],
      registers: [registry],
      collect() {
        this.reset()
        for (const source of sources()) {
          const value = measured(source)
          if (value !== null) this.set({ dataset: source.dataset }, value)
        }
      },
    })
  gauge(
    'lodestone_source_age_seconds',
    'Time since the address of a dataset last answered with data, or that there are no new ones',
    ({ age }) => age,
  )
  gauge(
    'lodestone_source_failures',
    'Failures of the address of a dataset since it last answered',
    ({ failures }) => failures,
  )
}
