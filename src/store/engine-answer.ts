import { Fault, UNPROCESSABLE_ENTITY } from '../errors/errors.ts'
import { isXmlText } from '../model/xml.ts'
import type { AnswerFormat, QueryAnswer } from './store.ts'

/**
 * The answer of an engine as a store gives it. Engines write carriage returns into XML as they are, which XML reads as line
 * ends (XML 1.0, section 2.11), and characters that it cannot hold. Faults: UnprocessableEntity for those.
 */
export function engineAnswer(text: string, format: AnswerFormat): QueryAnswer {
  if (format !== 'xml') return { by: 'engine', pieces: once(Buffer.from(text)) }
  if (!isXmlText(text))
    throw new Fault(UNPROCESSABLE_ENTITY, {
      reason: 'A value is nothing that RDF/XML or XML can write. Ask for another format.',
    })
  return { by: 'engine', pieces: once(Buffer.from(text.replaceAll('\r', '&#13;'))) }
}

async function* once<T>(piece: T): AsyncGenerator<T> {
  yield piece
}
