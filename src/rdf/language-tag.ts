/**
 * A well-formed language tag (RFC 5646, section 2.1), validated as the store does. The irregular grandfathered tags are included.
 */
const EXTENSIONS = '(?:-[0-9A-WY-Z](?:-[A-Z0-9]{2,8})+)*'
const PRIVATE_USE = 'X(?:-[A-Z0-9]{1,8})+'
const LANGUAGE = '(?:[A-Z]{2,3}(?:-[A-Z]{3}){0,3}|[A-Z]{4,8})'
const VARIANTS = '(?:-(?:[A-Z0-9]{5,8}|[0-9][A-Z0-9]{3}))*'
const IRREGULAR = [
  ...['en-GB-oed', 'i-ami', 'i-bnn', 'i-default', 'i-enochian', 'i-hak', 'i-klingon', 'i-lux', 'i-mingo'],
  ...['i-navajo', 'i-pwn', 'i-tao', 'i-tay', 'i-tsu', 'sgn-BE-FR', 'sgn-BE-NL', 'sgn-CH-DE', 'art-lojban'],
  ...['cel-gaulish', 'no-bok', 'no-nyn', 'zh-guoyu', 'zh-hakka', 'zh-min', 'zh-min-nan', 'zh-xiang'],
].join('|')
const LANGUAGE_TAG = new RegExp(
  `^(?:${IRREGULAR}|${PRIVATE_USE}|${LANGUAGE}(?:-[A-Z]{4})?(?:-(?:[A-Z]{2}|\\d{3}))?${VARIANTS}${EXTENSIONS}(?:-${PRIVATE_USE})?)$`,
  'i',
)

/** True for a language tag that the store accepts. */
export function isLanguageTag(text: string): boolean {
  return LANGUAGE_TAG.test(text)
}
