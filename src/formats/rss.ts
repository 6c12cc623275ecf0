import { XML_DECLARATION, xmlAttribute, xmlText } from '../model/xml.ts'
import type { CatalogDescription, DatasetDescription } from './catalog-description.ts'

/** Writes a catalog as an RSS feed, one item for each dataset (RSS 2.0). */
export async function* rss(catalog: CatalogDescription): AsyncGenerator<string> {
  yield [
    XML_DECLARATION,
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">\n',
    '<channel>\n',
    element('title', catalog.title),
    element('link', catalog.homepage),
    element('description', catalog.description),
    `<atom:link href="${xmlAttribute(catalog.self)}" rel="self" type="application/rss+xml"/>\n`,
    catalog.modified === null ? '' : element('lastBuildDate', mailDate(catalog.modified)),
  ].join('')
  for (const dataset of catalog.datasets) yield item(dataset)
  yield '</channel>\n</rss>\n'
}

function item({
  iri,
  page,
  title,
  description,
  publisher,
  themes,
  keywords,
  modified,
}: DatasetDescription): string {
  const categories = new Set([...themes.map(({ name }) => name), ...keywords])
  return [
    '<item>\n',
    element('title', title),
    element('link', page),
    element('description', description),
    publisher === null ? '' : element('dc:creator', publisher.name),
    ...Array.from(categories, category => element('category', category)),
    `<guid isPermaLink="false">${xmlText(iri)}</guid>\n`,
    modified === null ? '' : element('pubDate', mailDate(modified)),
    '</item>\n',
  ].join('')
}

function element(name: string, text: string): string {
  return `<${name}>${xmlText(text)}</${name}>\n`
}

/** A moment in the format of RFC 822, with a four-digit year. */
function mailDate(moment: string): string {
  return new Date(moment).toUTCString()
}
