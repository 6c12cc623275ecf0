import { abortAfter } from '../runtime/abort-after.ts'
import type { TracingSettings } from './otel-settings.ts'

/** The value of an attribute: a number is an integer, or a decimal that has one type whatever its value. */
export type AttributeValue = string | number | boolean | { readonly double: number }

/** A finished span, as exported. */
export interface TraceSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** The state of the trace that its caller sent (W3C Trace Context). */
  readonly traceState?: string
  readonly name: string
  readonly kind: 'server' | 'client'
  /** Milliseconds since 1970, with fractions. */
  readonly begun: number
  readonly ended: number
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly isError: boolean
}

/** Timeout in milliseconds of the last flush when the process ends. */
const LAST_WAIT = 3000

/**
 * Sends spans in batches to a collector, as JSON over HTTP. It never blocks: spans that cannot be sent, or that exceed the queue,
 * are dropped and counted.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export class SpanExporter {
  private readonly settings: TracingSettings
  private readonly onFailure: (reason: string) => void
  private waiting: TraceSpan[] = []
  private timer: NodeJS.Timeout | null = null
  private sending: Promise<void> = Promise.resolve()
  private isSending = false
  /** Number of spans that were dropped. */
  dropped = 0

  /** @param onFailure is called with the reason why spans were dropped, without secrets */
  constructor(settings: TracingSettings, onFailure: (reason: string) => void) {
    this.settings = settings
    this.onFailure = onFailure
  }

  add(span: TraceSpan): void {
    if (this.waiting.length >= this.settings.queue) {
      this.dropped += 1
      return
    }
    this.waiting.push(span)
    if (this.waiting.length >= this.settings.batch) this.send()
    else this.sendLater()
  }

  /** Sends all waiting spans, with a timeout of some seconds. */
  async close(): Promise<void> {
    const late = abortAfter(LAST_WAIT)
    const isLate = new Promise<void>(resolve => late.addEventListener('abort', () => resolve()))
    while ((this.isSending || this.waiting.length > 0) && !late.aborted) {
      this.send()
      await Promise.race([this.sending, isLate])
    }
    if (this.timer !== null) clearTimeout(this.timer)
  }

  private sendLater(): void {
    if (this.timer !== null) return
    this.timer = setTimeout(() => {
      this.timer = null
      this.send()
    }, this.settings.every)
    this.timer.unref()
  }

  private send(): void {
    if (this.isSending || this.waiting.length === 0) return
    this.isSending = true
    this.sending = this.post().finally(() => {
      this.isSending = false
      if (this.waiting.length >= this.settings.batch) this.send()
      else if (this.waiting.length > 0) this.sendLater()
    })
  }

  private async post(): Promise<void> {
    const spans = this.waiting.splice(0, this.settings.batch)
    const { endpoint, headers, attributes, timeout } = this.settings
    try {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(exportRequest(spans, attributes)),
        signal: abortAfter(timeout),
        redirect: 'error',
      })
      await response.arrayBuffer()
      if (!response.ok) this.drop(spans, `it answered ${response.status}`)
    } catch (error) {
      const { cause, message } = error as Error & { cause?: { code?: string } }
      this.drop(spans, cause?.code ?? message)
    }
  }

  private drop(spans: readonly TraceSpan[], reason: string): void {
    this.dropped += spans.length
    this.onFailure(reason)
  }
}

/** A batch as ExportTraceServiceRequest in JSON. */
function exportRequest(
  spans: readonly TraceSpan[],
  attributes: Readonly<Record<string, AttributeValue>>,
): unknown {
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(attributes) },
        scopeSpans: [{ scope: { name: 'lodestone' }, spans: spans.map(spanJson) }],
      },
    ],
  }
}

const KINDS = { server: 2, client: 3 } as const
const ERROR = 2

function spanJson({ name, kind, begun, ended, attributes, isError, ...ids }: TraceSpan): unknown {
  return {
    ...ids,
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(begun),
    endTimeUnixNano: nanoseconds(ended),
    attributes: keyValues(attributes),
    status: isError ? { code: ERROR } : {},
  }
}

function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds)
  const fraction = Math.floor((milliseconds - whole) * 1e6)
  return `${whole}${String(fraction).padStart(6, '0')}`
}

function keyValues(attributes: Readonly<Record<string, AttributeValue>>): unknown {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueJson(value) }))
}

function valueJson(value: AttributeValue): unknown {
  switch (typeof value) {
    case 'string':
      return { stringValue: value }
    case 'boolean':
      return { boolValue: value }
    case 'number':
      return { intValue: String(value) }
    default:
      return { doubleValue: value.double }
  }
}
