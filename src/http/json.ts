import type { FastifyReply } from 'fastify'
import { exactJson } from '../model/exact-json.ts'
import { plainNames } from '../model/member-order.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Serialises a body as the live service does: one line, a blank after commas and colons, and only ASCII, so that it reads
 * the same in any charset.
 */
export function jsonText(value: unknown): string {
  return write(value) ?? 'null'
}

/** Writes a body of few members over several lines, as the live service writes its errors. */
export function prettyJson(value: unknown): string {
  return ascii(exactJson(value, 2) ?? 'null')
}

/** Sends a body as JSON. */
export function answerJson(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.type(JSON_TYPE).send(jsonText(body))
}

/** Undefined for what JSON does not have: functions, symbols and undefined itself. */
function write(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return text(value)
    case 'number':
      return Number.isFinite(value) ? `${value}` : 'null'
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return array(value)
      // A member of a record may have that name.
      return 'toJSON' in value && typeof value.toJSON === 'function'
        ? ascii(JSON.stringify(value))
        : object(value)
    case 'bigint':
      return `${value}`
    default:
      return undefined
  }
}

function array(items: readonly unknown[]): string {
  let written = '['
  for (let index = 0; index < items.length; index++)
    written += (index === 0 ? '' : ', ') + (write(items[index]) ?? 'null')
  return `${written}]`
}

function object(members: object): string {
  let written = '{'
  // Two lists take a third of the time of a list of pairs.
  const names = Object.keys(members)
  const values: readonly unknown[] = Object.values(members)
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string
    const value = write(values[at])
    if (value !== undefined) written += written.length === 1 ? key(name) + value : `, ${key(name)}${value}`
  }
  return `${written}}`
}

/** Serialised member names, memoised: there are few, and each record has them. */
const keys = new Map<string, string>()
const MAX_KEYS = 5000

function key(name: string): string {
  const known = keys.get(name)
  if (known !== undefined) return known
  const written = `${text(plainNames(name))}: `
  if (keys.size < MAX_KEYS) keys.set(name, written)
  return written
}

/** Characters that need no escape. */
const PLAIN = /^[ !#-[\]-~]*$/
/** Maximum length of a text that is tested for escapes: longer ones are left to JSON.stringify. */
const MAX_TESTED = 100

function text(value: string): string {
  return value.length <= MAX_TESTED && PLAIN.test(value) ? `"${value}"` : ascii(JSON.stringify(value))
}

const BEYOND_ASCII = /[\u007f-\uffff]/
const ALL_BEYOND_ASCII = /[\u007f-\uffff]/g

function ascii(json: string): string {
  if (!BEYOND_ASCII.test(json)) return json
  return json.replace(ALL_BEYOND_ASCII, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
