import { randomBytes, randomUUID } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { RELEASE } from '../config/release.ts'
import type { RequestObserver } from '../http/observe.ts'
import { Metrics } from './metrics.ts'
import { type TracingSettings, tracingSettings } from './otel-settings.ts'
import type { StoreObserver } from './watched-store.ts'

/** The observers of a running Lodestone: what is not configured costs nothing. */
export interface Telemetry {
  /** null if no client can read them. */
  readonly metrics: Metrics | null
  readonly requestObservers: readonly RequestObserver[]
  readonly storeObservers: readonly StoreObserver[]
  /** Sends the waiting spans. */
  close(): Promise<void>
}

/**
 * Opens the configured telemetry: metrics if `admin_port` or `metrics` makes them readable, traces if a collector is configured
 * (setting `otel`, or the standard variables of OpenTelemetry).
 *
 * @param warn is called with errors of background work
 */
export async function openTelemetry(
  { adminPort, metrics: access, otel }: Config,
  environment: NodeJS.ProcessEnv,
  warn: (message: string) => void,
): Promise<Telemetry> {
  const isMeasured = adminPort !== undefined || access === 'public'
  const metrics = isMeasured ? new Metrics(() => performance.now(), { version: RELEASE }) : null
  const settings = tracingSettings(otel, environment, RELEASE)
  const traces = settings === null ? null : await openTracing(settings, warn)
  return {
    metrics,
    requestObservers: [
      ...(metrics === null ? [] : [metrics.requestObserver()]),
      ...(traces === null ? [] : [traces.tracing.requestObserver()]),
    ],
    storeObservers: [
      ...(metrics === null ? [] : [metrics.storeObserver()]),
      ...(traces === null ? [] : [traces.tracing.storeObserver()]),
    ],
    close: async () => {
      await traces?.exporter.close()
    },
  }
}

/** Minimum milliseconds between two reports of failures. */
const REPORT_INTERVAL = 60_000

async function openTracing(settings: TracingSettings, warn: (message: string) => void) {
  const [{ SpanExporter }, { Tracing }] = await Promise.all([import('./otlp.ts'), import('./tracing.ts')])
  for (const text of settings.ignored) warn(text)
  let described = Number.NEGATIVE_INFINITY
  const attributes = { ...settings.attributes, 'service.instance.id': randomUUID() }
  const exporter = new SpanExporter({ ...settings, attributes }, reason => {
    if (performance.now() - described < REPORT_INTERVAL) return
    described = performance.now()
    warn(`traces cannot be sent to ${new URL(settings.endpoint).host}: ${reason}; they are dropped`)
  })
  const tracing = new Tracing({
    sampler: settings.sampler,
    clock: () => performance.timeOrigin + performance.now(),
    randomHex: bytes => randomBytes(bytes).toString('hex'),
    onSpan: span => exporter.add(span),
  })
  return { exporter, tracing }
}
