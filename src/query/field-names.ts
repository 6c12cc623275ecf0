import { type Field, fieldNamed } from '../model/field.ts'

/**
 * The field that a name means. In the catalog, which has a template whose prefix may be left out, `title`, `basic.title`
 * and `metas.default.title` all mean `default.title` (REST 2.9).
 *
 * @param template that template; undefined for the records of a dataset, whose fields have one name each
 */
export function findField(fields: readonly Field[], name: string, template?: string): Field | undefined {
  const exact = fieldNamed(fields, name)
  if (exact !== undefined || template === undefined) return exact
  const plain = withoutPrefixes(name, template)
  return fieldNamed(fields, plain) ?? fieldNamed(fields, `${template}.${plain}`)
}

/** The test of names that begin with a prefix, in any spelling that {@link findField} knows. */
export function beginsWith(prefix: string, template?: string): (name: string) => boolean {
  const plain = template === undefined ? prefix : withoutPrefixes(prefix, template)
  return name => name.startsWith(prefix) || name.startsWith(plain)
}

/** `basic` is the type of the templates that users fill in, of which `template` is the one that every dataset has. */
function withoutPrefixes(name: string, template: string): string {
  return name.replace(/^metas\./, '').replace(/^basic\./, `${template}.`)
}
