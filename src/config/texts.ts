import { type TStringOptions, Type } from 'typebox'

/** Texts of settings, definitions and request bodies: the pattern of each, and what it expects in words for messages. */
const TEXTS = {
  address: [
    '^https?://[^/?#\\s@]+(/[^?#\\s]*)?$',
    'an address that begins with http:// or https://, without a user, ? and #',
  ],
  addressWithQuery: [
    '^https?://[^/?#\\s@]+(?:[/?][^#\\s]*)?$',
    'an address that begins with http:// or https://, without a user and #',
  ],
  engineAddress: [
    '^https?://[^/?#\\s]+(/[^?#\\s]*)?$',
    'an address that begins with http:// or https://, without ? and #',
  ],
  sourceAddress: [
    '^(?:https?|ftps?)://[^/?#\\s@]+(/[^#\\s]*)?$',
    'an address that begins with http://, https://, ftp:// or ftps://, without a user and #',
  ],
  tileAddress: [
    '^(?=.*\\{z\\})(?=.*\\{x\\})(?=.*\\{y\\})https?://[^/?#\\s@{}\\\\;,]+/[^#\\s]*$',
    'an address that begins with http:// or https://, with {z}, {x} and {y} in its path',
  ],
  host: [
    '^(\\*\\.)?[A-Za-z0-9.:-]{1,200}$',
    'the name or the address of a host, or *.example.org for all hosts below one',
  ],
  domain: ['^[A-Za-z0-9.-]{1,100}$', 'letters, digits, dots and -, at most 100'],
  size: [
    '^\\d+(\\.\\d+)? ?(kB|MB|GB|KiB|MiB|GiB)$',
    'a number with one of kB, MB, GB, KiB, MiB and GiB, such as 500MB',
  ],
  language: ['^[a-z]{2,3}$', 'the code of a language, such as en'],
  scope: ['^[\\w:./-]+$', 'letters, digits and any of _ : . / -'],
  sourceCredentials: [
    '^SOURCE_AUTH_[A-Z0-9_]+$',
    'the name of an environment variable that begins with SOURCE_AUTH_',
  ],
  datasetId: ['^[a-z0-9][a-z0-9_-]{0,99}$', 'lower-case letters, digits, - and _, at most 100'],
  harvesterId: ['^[a-z0-9][a-z0-9_-]{0,39}$', 'lower-case letters, digits, - and _, at most 40'],
  idPrefix: ['^[a-z0-9_-]{0,40}$', 'lower-case letters, digits, - and _, at most 40'],
  fieldName: ['^[a-z0-9_]{1,100}$', 'lower-case letters, digits and _, at most 100'],
  widths: ['^[1-9]\\d{0,4}(?:, ?[1-9]\\d{0,4})*$', 'numbers of characters, such as 10,4,20'],
  patternFlags: ['^[smixq]*$', 'any of the letters s, m, i, x and q'],
} as const

/** The schema of a text of one kind. */
export function patternText(kind: keyof typeof TEXTS, options: TStringOptions = {}) {
  return Type.String({ pattern: TEXTS[kind][0], ...options })
}

/** What a pattern of {@link patternText} expects, in words; undefined for another pattern. */
export function expectedText(pattern: unknown): string | undefined {
  return Object.values(TEXTS).find(([known]) => known === pattern)?.[1]
}
