import { CONFIG_INVALID } from '../config/faults.ts'
import { Fault } from '../errors/errors.ts'
import { lookup } from '../model/lookup.ts'

/** Where and how traces are sent. */
export interface TracingSettings {
  /** Address to which batches are sent with POST. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  /** Attributes of the resource of all spans. */
  readonly attributes: Readonly<Record<string, string>>
  readonly sampler: Sampler
  /** Timeout of one export in milliseconds. */
  readonly timeout: number
  /** Interval between two exports in milliseconds. */
  readonly every: number
  /** Maximum number of spans of one export. */
  readonly batch: number
  /** Maximum number of waiting spans; further ones are dropped. */
  readonly queue: number
  /** Variables with values that are not supported: what was found, and what applies instead. */
  readonly ignored: readonly string[]
}

/** Which requests are traced: a share of those without a parent; if parents count, their decision is followed. */
export interface Sampler {
  readonly ratio: number
  readonly followsParent: boolean
}

/**
 * The tracing settings of the process from the standard variables of OpenTelemetry; null if it is not traced. Faults:
 * ConfigInvalid for an invalid endpoint.
 *
 * @param otel the setting of the portal, which overrides the variables
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function tracingSettings(
  otel: string | undefined,
  environment: NodeJS.ProcessEnv,
  version: string,
): TracingSettings | null {
  const given = (name: string) => lookup(environment, name)?.trim() || undefined
  const base = otel ?? given('OTEL_EXPORTER_OTLP_ENDPOINT')
  const own = otel === undefined ? given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') : undefined
  const endpoint = own ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`)
  if (endpoint === undefined || given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null
  if (given('OTEL_TRACES_EXPORTER') === 'none') return null
  if (!/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    const reason = 'OTEL_EXPORTER_OTLP_ENDPOINT: an address of http or https is expected'
    throw new Fault(CONFIG_INVALID, { reason })
  }
  const number = (name: string, standard: number) => {
    const text = given(name)
    return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : standard
  }
  return {
    endpoint,
    headers: {
      ...pairs(given('OTEL_EXPORTER_OTLP_HEADERS')),
      ...pairs(given('OTEL_EXPORTER_OTLP_TRACES_HEADERS')),
    },
    attributes: {
      'service.name': 'lodestone',
      ...pairs(given('OTEL_RESOURCE_ATTRIBUTES')),
      ...(given('OTEL_SERVICE_NAME') === undefined
        ? {}
        : { 'service.name': given('OTEL_SERVICE_NAME') ?? '' }),
      'service.version': version,
    },
    sampler: samplerOf(given('OTEL_TRACES_SAMPLER'), given('OTEL_TRACES_SAMPLER_ARG')),
    timeout: number('OTEL_EXPORTER_OTLP_TIMEOUT', 10_000),
    every: Math.max(10, number('OTEL_BSP_SCHEDULE_DELAY', 5000)),
    batch: Math.max(1, number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
    queue: Math.max(1, number('OTEL_BSP_MAX_QUEUE_SIZE', 2048)),
    ignored: ignoredVariables(given),
  }
}

/** The variables that name a protocol or a sampler that is not supported. */
function ignoredVariables(given: (name: string) => string | undefined): readonly string[] {
  const unsupported = (name: string, isSupported: (value: string) => boolean, instead: string) => {
    const value = given(name)
    return value === undefined || isSupported(value) ? [] : [`${name}=${value} is not supported: ${instead}`]
  }
  const protocols = ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'].flatMap(name =>
    unsupported(name, value => value === 'http/json', 'traces are sent as http/json'),
  )
  const isSampler = (value: string) => SAMPLERS.has(value.replace(/^parentbased_/, ''))
  return [...protocols, ...unsupported('OTEL_TRACES_SAMPLER', isSampler, 'all requests are traced')]
}

const SAMPLERS: ReadonlySet<string> = new Set(['always_on', 'always_off', 'traceidratio'])

/** Parses `name=value` pairs, separated by commas, the values percent-encoded. */
function pairs(text = ''): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(',').flatMap(pair => {
      const [name = '', value = ''] = pair.split(/=(.*)/s).map(part => part.trim())
      return name === '' ? [] : [[name, decoded(value)]]
    }),
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function samplerOf(name = 'parentbased_always_on', argument = '1'): Sampler {
  const followsParent = name.startsWith('parentbased_')
  switch (name.replace('parentbased_', '')) {
    case 'always_off':
      return { ratio: 0, followsParent }
    case 'traceidratio': {
      const ratio = Number(argument)
      return { ratio: ratio >= 0 && ratio <= 1 ? ratio : 1, followsParent }
    }
    default:
      return { ratio: 1, followsParent }
  }
}
