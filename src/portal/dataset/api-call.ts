import { DEFAULT_ROWS, DEFAULT_ZONE, many, one, readPage, readPresentation } from '../../http/parameters.ts'
import { isLanguage } from '../../model/language.ts'
import type { AnswerPage } from '../../query/execute/answer.ts'
import { odsqlText, refinementText } from '../selection.ts'
import type { TabContext } from './tab.ts'

/** A call of the Explore API v2.1 for records, with the texts of the form of the page; empty texts are absent parameters. */
export interface ApiCall {
  readonly select: string
  readonly where: string
  readonly group_by: string
  readonly order_by: string
  readonly limit: string
  readonly offset: string
  readonly refine: readonly string[]
  readonly exclude: readonly string[]
  readonly timezone: string
  readonly lang: string
}

/** The parameter of the page for the language of the answer: `lang` is that of the page. */
export const ANSWER_LANGUAGE = 'answer_lang'

/** Reads the call from an address of the page: searched words become a part of its condition. */
export function readCall({ query, selection }: TabContext): ApiCall {
  const text = (name: string) => (many(query, name)[0] ?? '').trim()
  const { words, where, refine, exclude, orderBy } = selection
  const quoted = words === '' ? '' : odsqlText(words)
  return {
    select: text('select'),
    where: quoted === '' || where === '' ? quoted + where : `${quoted} and (${where})`,
    group_by: text('group_by'),
    order_by: orderBy,
    limit: text('limit'),
    offset: text('offset'),
    refine: refine.map(refinementText),
    exclude: exclude.map(refinementText),
    timezone: text('timezone'),
    lang: isLanguage(text(ANSWER_LANGUAGE)) ? text(ANSWER_LANGUAGE) : '',
  }
}

/**
 * The answer of the call; null if the page cannot compute it, because the API uses another time zone. Faults are those of
 * the API.
 */
export async function answerCall(context: TabContext, call: ApiCall): Promise<AnswerPage | null> {
  const { queryService, source, selection, query } = context
  const { timezone, language } = readPresentation({ timezone: call.timezone, lang: call.lang })
  const page = { limit: one(query, 'limit') ?? '', offset: one(query, 'offset') ?? '' }
  const isGrouped = call.group_by !== ''
  const answer = await queryService.find(
    source,
    { ...selection, words: '', where: call.where },
    {
      ...readPage(page, isGrouped, isGrouped ? null : DEFAULT_ROWS),
      ...(call.select === '' ? {} : { select: call.select }),
      ...(call.group_by === '' ? {} : { groupBy: call.group_by }),
      orderBy: call.order_by,
    },
    language,
  )
  return timezone === DEFAULT_ZONE ? answer : null
}
