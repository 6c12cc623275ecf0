import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import {
  type Answered,
  type ObservedReply,
  type ObservedRequest,
  type RequestObserver,
  routeOf,
} from '../http/observe.ts'
import { addressWithoutSecrets } from '../http/query-string.ts'
import { endpointOf } from '../http/route-config.ts'
import type { Sampler } from './otel-settings.ts'
import type { AttributeValue, TraceSpan } from './otlp.ts'
import type { StoreObserver } from './watched-store.ts'

export interface TracingOptions {
  readonly sampler: Sampler
  /** Milliseconds since 1970, with fractions. */
  readonly clock: () => number
  /** A number of random bytes, as hexadecimal digits. */
  readonly randomHex: (bytes: number) => string
  readonly onSpan: (span: TraceSpan) => void
}

/** A request in progress. */
interface Active extends TraceContext {
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly begun: number
}

/** Maximum length of a query in a span. */
const MAX_LENGTH = 2000

/**
 * Traces requests: one span for each, a child of the caller's if a `traceparent` names one, with one child for each query of the
 * store. The stages of a query are attributes, in milliseconds, because they are sums of many short times.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
export class Tracing {
  private readonly options: TracingOptions
  private readonly active = new AsyncLocalStorage<Active>()
  private readonly spans = new WeakMap<ObservedRequest, Active>()

  constructor(options: TracingOptions) {
    this.options = options
  }

  requestObserver(): RequestObserver {
    return {
      around: (request, proceed) => {
        const span = this.begin(request.raw)
        if (span === null) return proceed()
        this.spans.set(request, span)
        this.active.run(span, proceed)
      },
      ended: (request, reply, answered) => this.end(request, reply, answered),
      repeated: (request, { raw: { statusCode: status } }) => {
        const answered = { endpoint: endpointOf(request), route: routeOf(request), status, aborted: false }
        return (message, id) => {
          const span = this.begin(message)
          if (span !== null)
            this.report(span, message, answered, {
              ...serverOf(request),
              'lodestone.request': id,
              'lodestone.cached': true,
            })
        }
      },
    }
  }

  storeObserver(): StoreObserver {
    return (operation, text) => {
      const parent = this.active.getStore()
      if (parent === undefined) return () => undefined
      const begun = this.options.clock()
      return outcome => {
        const isError = outcome !== 'ok' && outcome !== 'refused'
        this.options.onSpan({
          traceId: parent.traceId,
          spanId: this.options.randomHex(8),
          parentSpanId: parent.spanId,
          ...stateOf(parent),
          name: `store ${operation}`,
          kind: 'client',
          begun,
          ended: this.options.clock(),
          attributes: {
            'db.system.name': 'sparql',
            'db.operation.name': operation,
            'lodestone.outcome': outcome,
            ...(text === null ? {} : { 'db.query.text': text().slice(0, MAX_LENGTH) }),
          },
          isError,
        })
      }
    }
  }

  private begin({ headers }: IncomingMessage): Active | null {
    const { sampler, clock, randomHex } = this.options
    const parent = readTraceparent(headers.traceparent)
    const traceId = parent?.traceId ?? randomHex(16)
    const isSampled =
      parent !== null && sampler.followsParent
        ? parent.isSampled
        : Number.parseInt(traceId.slice(-13), 16) < sampler.ratio * 2 ** 52
    if (!isSampled) return null
    const traceState = parent === null ? null : readTracestate(headers.tracestate)
    return {
      traceId,
      spanId: randomHex(8),
      isSampled,
      begun: clock(),
      ...(parent === null ? {} : { parentSpanId: parent.spanId }),
      ...(traceState === null ? {} : { traceState }),
    }
  }

  private end(request: ObservedRequest, reply: ObservedReply, answered: Answered): void {
    const span = this.spans.get(request)
    if (span === undefined) return
    const { principal, id } = request
    this.report(span, request.raw, answered, {
      ...serverOf(request),
      'lodestone.request': id,
      ...(principal?.type === 'user' ? { 'user.id': String(principal.id) } : {}),
      ...stagesOf(reply.getHeader('server-timing')),
    })
  }

  private report(
    span: Active,
    { method = '', url = '' }: IncomingMessage,
    { endpoint, route, status, aborted }: Pick<Answered, 'endpoint' | 'route' | 'status' | 'aborted'>,
    more: Readonly<Record<string, AttributeValue>>,
  ): void {
    const { traceId, spanId, parentSpanId, begun } = span
    const [path = '', query] = addressWithoutSecrets(url).split(/\?(.*)/s)
    this.options.onSpan({
      traceId,
      spanId,
      ...(parentSpanId === undefined ? {} : { parentSpanId }),
      ...stateOf(span),
      name: route === '' ? method : `${method} ${route}`,
      kind: 'server',
      begun,
      ended: this.options.clock(),
      attributes: {
        'http.request.method': method,
        'http.response.status_code': status,
        ...(status >= 500 ? { 'error.type': String(status) } : {}),
        'url.path': path.slice(0, MAX_LENGTH),
        ...(query === undefined ? {} : { 'url.query': query.slice(0, MAX_LENGTH) }),
        ...(route === '' ? {} : { 'http.route': route }),
        'lodestone.endpoint': endpoint,
        ...(aborted ? { 'lodestone.aborted': true } : {}),
        ...more,
      },
      isError: status >= 500,
    })
  }
}

/** The server that the client asked, by its Host header. */
function serverOf({
  protocol,
  hostname = '',
  port,
}: ObservedRequest): Readonly<Record<string, AttributeValue>> {
  const scheme = { 'url.scheme': protocol }
  if (hostname === '') return scheme
  const address = hostname.replace(/^\[(.*)\]$/, '$1').slice(0, MAX_LENGTH)
  const known = Number.isInteger(port) ? Number(port) : protocol === 'https' ? 443 : 80
  return { ...scheme, 'server.address': address, 'server.port': known }
}

/** What the caller's `tracestate` adds to each span below it. */
function stateOf({ traceState }: Active): Pick<TraceSpan, 'traceState'> {
  return traceState === undefined ? {} : { traceState }
}

/** The stages in a Server-Timing header, in milliseconds. */
function stagesOf(header: unknown): Readonly<Record<string, AttributeValue>> {
  if (typeof header !== 'string') return {}
  return Object.fromEntries(
    [...header.matchAll(/(\w+);dur=([\d.]+)/g)].map(([, stage = '', consumed]) => [
      `lodestone.stage.${stage}`,
      { double: Number(consumed) },
    ]),
  )
}

/** The position of a span in its trace (W3C Trace Context, section 3.2). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** Parses the header `traceparent`; null if it is missing or invalid. */
export function readTraceparent(header: unknown): TraceContext | null {
  if (typeof header !== 'string') return null
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(header.trim()) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

const TRACESTATE_MEMBER =
  /^[a-z\d][\w\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
const MAX_MEMBERS = 32

/** The members of the header `tracestate` (W3C Trace Context, section 3.3); null if it is missing, invalid or very long. */
export function readTracestate(header: unknown): string | null {
  if (typeof header !== 'string' || header.length > MAX_LENGTH) return null
  const members = header
    .split(',')
    .map(member => member.trim())
    .filter(member => member !== '')
  const isValid = members.length <= MAX_MEMBERS && members.every(member => TRACESTATE_MEMBER.test(member))
  return isValid && members.length > 0 ? members.join(',') : null
}
