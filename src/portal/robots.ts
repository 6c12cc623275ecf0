/** What crawlers leave out: APIs, whose answers have no end, and pages of one person alone. */
const CLOSED = ['/api/', '/account/', '/oauth2/', '/healthz', '/readyz']

/** Parameters that choose among what other pages show whole. */
const SELECTING = ['q', 'where', 'refine', 'exclude', 'order_by']

/** Rules for crawlers (RFC 9309), and where all pages are listed. */
export function robotsText(base: string): string {
  const root = new URL(base).pathname.replace(/\/+$/, '')
  const closed = CLOSED.map(path => `Disallow: ${root}${path}`)
  const selecting = SELECTING.flatMap(name => [
    `Disallow: ${root}/explore/*?${name}=`,
    `Disallow: ${root}/explore/*&${name}=`,
  ])
  return ['User-agent: *', ...closed, ...selecting, '', `Sitemap: ${base}/sitemap.xml`, ''].join('\n')
}
