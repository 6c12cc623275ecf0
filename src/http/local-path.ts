/** Longer paths are rejected. */
const MAX_LENGTH = 8000

/**
 * The path, with its query, that a user is redirected to after signing in; null for what could lead to another site:
 * anything but one slash at the beginning, backslashes and control characters, which browsers read as slashes or drop,
 * and paths that begin with two slashes once their dots are resolved.
 */
export function localPath(given: string | undefined): string | null {
  if (given === undefined || given.length > MAX_LENGTH || !/^\/(?![/\\])[^\\]*$/.test(given)) return null
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0020\u007f-\u009f]/.test(given)) return null
  const url = URL.canParse(given, HERE) ? new URL(given, HERE) : null
  if (url?.origin !== HERE || url.pathname.startsWith('//')) return null
  return url.pathname + url.search
}

const HERE = 'http://here.invalid'
