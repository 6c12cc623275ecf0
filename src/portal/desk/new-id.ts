import { Fault } from '../../errors/errors.ts'

/** The last step of an address, or its host. */
export function nameInAddress(url: string): string {
  if (!URL.canParse(url))
    throw new Fault('BadRequest', {
      reason: 'An address that begins with https://, http://, ftps:// or ftp:// is expected.',
    })
  const { pathname, hostname } = new URL(url)
  return pathname.split('/').findLast(step => step !== '') ?? hostname
}

/** An id for a file, which no dataset has yet. */
export function newId(name: string, taken: ReadonlySet<string>): string {
  const plain = name
    .replace(/^.*[\\/]/, '')
    .replace(/\..*$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80)
  const first = plain === '' ? 'dataset' : plain
  for (let number = 1; ; number++) {
    const id = number === 1 ? first : `${first}-${number}`
    if (!taken.has(id)) return id
  }
}
