/** The user and password of a URL, after its scheme. */
const PASSWORD = /(?<=[a-z\d+.-]:\/\/)[^\s/?#"'<>]*@/gi
const NAMES =
  'api[_-]?key|access_token|refresh_token|id_token|client_secret|client_assertion|code_verifier|password'
/** A parameter whose value is a credential, within a text, and as a property of JSON. */
const SECRET_PAIR = new RegExp(`\\b(${NAMES})=[^\\s&"',;}]+`, 'gi')
const SECRET_PROPERTY = new RegExp(`"(${NAMES})":"(?:[^"\\\\]|\\\\.)*"`, 'gi')
const SCHEME = /\b([Bb]earer|Basic|[Aa]pi[Kk]ey)(\s+)[\w.~+/=-]{8,}/g

/** Removes the credentials from a text, such as a log line or an error message of a database client. */
export function withoutCredentials(text: string): string {
  return text
    .replace(PASSWORD, 'redacted@')
    .replace(SECRET_PAIR, '$1=redacted')
    .replace(SECRET_PROPERTY, '"$1":"redacted"')
    .replace(SCHEME, '$1$2redacted')
}
