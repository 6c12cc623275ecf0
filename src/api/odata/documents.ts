import { atomEntity, atomFeed, atomReferences } from './format/atom.ts'
import { atomProperty } from './format/atom-values.ts'
import { jsonEntity, jsonFeed, jsonProperty, jsonReferences } from './format/json.ts'
import type { Feed, Manner, Place, PropertyAnswer, References, Single } from './format/shape.ts'
import { verboseEntity, verboseFeed, verboseProperty, verboseReferences } from './format/verbose.ts'

/** An answer with entities, or with what they are made of. */
export type Answer =
  | { readonly type: 'feed'; readonly feed: Feed }
  | { readonly type: 'entity'; readonly entity: Single }
  | { readonly type: 'property'; readonly property: PropertyAnswer }
  | { readonly type: 'references'; readonly references: References }

/** Writes an answer in the format and version that were agreed on. */
export function writeAnswer(answer: Answer, manner: Manner, place: Place): string {
  const isVerbose = manner.type === 'verbose'
  const isJson = manner.type === 'json'
  switch (answer.type) {
    case 'feed':
      if (isVerbose) return verboseFeed(answer.feed, place)
      return (isJson ? jsonFeed : atomFeed)(answer.feed, manner, place)
    case 'entity':
      if (isVerbose) return verboseEntity(answer.entity, place)
      return (isJson ? jsonEntity : atomEntity)(answer.entity, manner, place)
    case 'property':
      if (isVerbose) return verboseProperty(answer.property, place)
      return (isJson ? jsonProperty : atomProperty)(answer.property, manner, place)
    case 'references':
      if (isVerbose) return verboseReferences(answer.references, place)
      return (isJson ? jsonReferences : atomReferences)(answer.references, manner, place)
    default:
      return answer satisfies never
  }
}
