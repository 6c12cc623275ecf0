import { xmlAttribute, xmlText } from '../../../model/xml.ts'

/** The value of an annotation (CSDL 4.0, section 14): constants, lists of texts, records of them and of properties. */
export type AnnotationValue =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'flag'; readonly value: boolean }
  /** A member of an enumeration by its qualified name. */
  | { readonly type: 'member'; readonly of: string; readonly value: string }
  | { readonly type: 'texts'; readonly value: readonly string[] }
  | { readonly type: 'record'; readonly value: Readonly<Record<string, boolean | readonly string[]>> }
  /** A record with lists of properties of the annotated element. */
  | { readonly type: 'paths'; readonly value: Readonly<Record<string, readonly string[]>> }

/** An annotation of an element of the model with a term of a vocabulary. */
export interface Annotation {
  readonly term: string
  readonly value: AnnotationValue
}

/** Writes an annotation as an element of CSDL 4.0. */
export function annotationXml({ term, value }: Annotation): string {
  const start = `<Annotation Term="${xmlAttribute(term)}"`
  switch (value.type) {
    case 'text':
      return `${start} String="${xmlAttribute(value.value)}"/>`
    case 'flag':
      return `${start} Bool="${value.value}"/>`
    case 'member':
      return `${start} EnumMember="${xmlAttribute(`${value.of}/${value.value}`)}"/>`
    case 'texts':
      return `${start}>${collectionXml(value.value)}</Annotation>`
    case 'record':
    case 'paths': {
      const element = value.type === 'paths' ? 'PropertyPath' : 'String'
      const parts = Object.entries(value.value).map(([name, part]) => {
        const property = `<PropertyValue Property="${xmlAttribute(name)}"`
        return typeof part === 'boolean'
          ? `${property} Bool="${part}"/>`
          : `${property}>${collectionXml(part, element)}</PropertyValue>`
      })
      return `${start}><Record>${parts.join('')}</Record></Annotation>`
    }
    default:
      return value satisfies never
  }
}

function collectionXml(texts: readonly string[], element: 'String' | 'PropertyPath' = 'String'): string {
  return `<Collection>${texts.map(text => `<${element}>${xmlText(text)}</${element}>`).join('')}</Collection>`
}

/** Annotations as members of CSDL JSON 4.01 (section 14.3). */
export function annotationsJson(annotations: readonly Annotation[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(annotations.map(({ term, value }) => [`@${term}`, value.value]))
}
