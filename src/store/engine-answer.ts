import { Fault, UNPROCESSABLE_ENTITY } from '../errors/errors.ts'
import { isXmlText } from '../model/xml.ts'
import type { AnswerFormat, QueryAnswer } from './store.ts'

/**
 * Converts the answer of an engine to that of a store. Engines write unescaped carriage returns into XML, which XML parses as
 * line ends (XML 1.0, section 2.11), and characters that XML cannot represent. Faults: UnprocessableEntity for those.
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
