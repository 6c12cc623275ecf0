import { Fault } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import { lookup } from '../../model/lookup.ts'
import type { FieldEdit } from '../../publishing/edit-definition.ts'
import { METADATA, writtenValue } from './metadata.ts'

/** The fields of a form, in their order. */
export function formFields(form: Form): readonly FieldEdit[] {
  const fields: FieldEdit[] = []
  for (let at = 0; form.has(`name.${at}`); at++) {
    const name = form.get(`name.${at}`) ?? ''
    const given = (part: string) => form.get(`${part}.${at}`)?.trim() ?? ''
    const description = given('description')
    fields.push({
      name,
      type: given('type'),
      label: given('label') === '' || given('label') === name ? null : given('label'),
      description: description === '' ? null : description,
      annotations: { facet: form.has(`facet.${at}`) ? [] : null },
    })
  }
  if (fields.length === 0) throw new Fault('BadRequest', { reason: 'The form names no fields.' })
  return fields
}

/** Metadata and visibility of a form. */
export function describedBy(form: Form) {
  const metas: Record<string, Record<string, ReturnType<typeof writtenValue>>> = {}
  for (const field of METADATA) {
    const { template, name } = field
    const text = form.get(`${template}.${name}`)
    if (text === undefined) continue
    metas[template] = { ...lookup(metas, template), [name]: writtenValue(field, text) }
  }
  const visibility = form.get('visibility')
  if (visibility !== 'public' && visibility !== 'restricted') return { metas }
  return { metas, visibility } as const
}
