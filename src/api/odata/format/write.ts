import { atomEntity, atomFeed, atomReferences } from './atom.ts'
import { atomProperty } from './atom-values.ts'
import { jsonEntity, jsonFeed, jsonProperty, jsonReferences } from './json.ts'
import { withListsAsText } from './lists-as-text.ts'
import type { Answer, Manner, Place } from './shape.ts'
import { verboseEntity, verboseFeed, verboseProperty, verboseReferences } from './verbose.ts'

/** Writes an answer in the format and version that were agreed on. */
export function writeAnswer(written: Answer, manner: Manner, place: Place): string {
  const answer = manner.version === '2.0' ? withListsAsText(written) : written
  switch (manner.type) {
    case 'json':
      return inJson(answer, manner, place)
    case 'verbose':
      return inVerbose(answer, place)
    case 'atom':
      return inAtom(answer, manner, place)
    default:
      return manner.type satisfies never
  }
}

function inJson(answer: Answer, manner: Manner, place: Place): string {
  switch (answer.type) {
    case 'feed':
      return jsonFeed(answer.feed, manner, place)
    case 'entity':
      return jsonEntity(answer.entity, manner, place)
    case 'property':
      return jsonProperty(answer.property, manner, place)
    case 'references':
      return jsonReferences(answer.references, manner, place)
    default:
      return answer satisfies never
  }
}

function inVerbose(answer: Answer, place: Place): string {
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

function inAtom(answer: Answer, manner: Manner, place: Place): string {
  switch (answer.type) {
    case 'feed':
      return atomFeed(answer.feed, manner, place)
    case 'entity':
      return atomEntity(answer.entity, manner, place)
    case 'property':
      return atomProperty(answer.property, manner, place)
    case 'references':
      return atomReferences(answer.references, manner, place)
    default:
      return answer satisfies never
  }
}
