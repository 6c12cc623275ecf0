import type { Manner } from './shape.ts'

/** The media types of what the service answers (JSON Format 4.0, section 3; Atom Format 4.0, section 4). */
export const MEDIA = {
  json: 'application/json',
  jsonMinimal: 'application/json;odata.metadata=minimal',
  jsonFull: 'application/json;odata.metadata=full',
  oldJsonMinimal: 'application/json;odata=minimalmetadata',
  oldJsonFull: 'application/json;odata=fullmetadata',
  verbose: 'application/json;odata=verbose',
  feed: 'application/atom+xml;type=feed',
  entry: 'application/atom+xml;type=entry',
  service: 'application/atomsvc+xml',
  xml: 'application/xml',
  text: 'text/plain',
} as const

/** What an answer holds, as far as media types tell it. */
export type Payload = 'feed' | 'entry' | 'service' | 'other'

/** The media type of an answer, without a parameter for its characters. */
export function mediaType({ type, version, level, ieee754 }: Manner, payload: Payload): string {
  switch (type) {
    case 'verbose':
      return MEDIA.verbose
    case 'json':
      if (version === '3.0') return level === 'full' ? MEDIA.oldJsonFull : MEDIA.oldJsonMinimal
      return `${level === 'full' ? MEDIA.jsonFull : MEDIA.jsonMinimal}${ieee754 ? ';IEEE754Compatible=true' : ''}`
    case 'atom':
      return payload === 'other' ? MEDIA.xml : MEDIA[payload]
    default:
      return type satisfies never
  }
}
