import { atomEntity, atomFeed, atomReferences } from './atom.ts'
import { atomProperty } from './atom-values.ts'
import { withFittingTypes } from './fitting-types.ts'
import { jsonEntity, jsonFeed, jsonProperty, jsonReferences } from './json.ts'
import { withListsAsText } from './lists-as-text.ts'
import type { ODataAnswer, PayloadFormat, ServicePlace } from './shape.ts'
import { verboseEntity, verboseFeed, verboseProperty, verboseReferences } from './verbose.ts'

/** Writes an answer in the negotiated format and version. */
export function writeAnswer(written: ODataAnswer, payloadFormat: PayloadFormat, place: ServicePlace): string {
  const fitting = withFittingTypes(written)
  const answer = payloadFormat.version === '2.0' ? withListsAsText(fitting) : fitting
  switch (payloadFormat.type) {
    case 'json':
      return inJson(answer, payloadFormat, place)
    case 'verbose':
      return inVerbose(answer, place)
    case 'atom':
      return inAtom(answer, payloadFormat, place)
    default:
      return payloadFormat.type satisfies never
  }
}

function inJson(answer: ODataAnswer, payloadFormat: PayloadFormat, place: ServicePlace): string {
  switch (answer.type) {
    case 'feed':
      return jsonFeed(answer.feed, payloadFormat, place)
    case 'entity':
      return jsonEntity(answer.entity, payloadFormat, place)
    case 'property':
      return jsonProperty(answer.property, payloadFormat, place)
    case 'references':
      return jsonReferences(answer.references, payloadFormat, place)
    default:
      return answer satisfies never
  }
}

function inVerbose(answer: ODataAnswer, place: ServicePlace): string {
  switch (answer.type) {
    case 'feed':
      return verboseFeed(answer.feed, place)
    case 'entity':
      return verboseEntity(answer.entity, place)
    case 'property':
      return verboseProperty(answer.property, place)
    case 'references':
      return verboseReferences(answer.references, place)
    default:
      return answer satisfies never
  }
}

function inAtom(answer: ODataAnswer, payloadFormat: PayloadFormat, place: ServicePlace): string {
  switch (answer.type) {
    case 'feed':
      return atomFeed(answer.feed, payloadFormat, place)
    case 'entity':
      return atomEntity(answer.entity, payloadFormat, place)
    case 'property':
      return atomProperty(answer.property, payloadFormat, place)
    case 'references':
      return atomReferences(answer.references, payloadFormat, place)
    default:
      return answer satisfies never
  }
}
