import type { Definition } from './definition.ts'
import type { MappingFile } from './mapping/mapping-file.ts'
import { digestWithLookups } from './processors/dependencies.ts'
import type { PublishContext } from './publish-types.ts'
import { definitionDigest, fingerprintOf, sourceDigest } from './source-digest.ts'
import { sourceStates, type VersionManifest } from './versions/versions.ts'

/** True for a restored version as long as the portal folder is unchanged since the roll-back. */
export function isRolledBack(
  { restored }: VersionManifest,
  { definition, source }: Digests,
  file: MappingFile | null,
  { endsRollBack = false }: PublishContext,
): boolean {
  return !endsRollBack && restored?.instead === fingerprintOf(definition, source, textOf(file))
}

/** True for a version that would be the same if it were built again now. */
export function isBuiltFrom(
  { definition, source, mapping }: VersionManifest,
  digests: Digests,
  file: MappingFile | null,
): boolean {
  return definition === digests.definition && source === digests.source && textOf(mapping) === textOf(file)
}

export interface Digests {
  readonly definition: string
  readonly source: string
}

/** The digests of a definition and its source. An unreadable source is not needed as long as only the mapping differs. */
export async function digestsOf(
  definition: Definition,
  file: MappingFile | null,
  current: VersionManifest | null,
  { base, portal, versions, mappingOnly = false }: PublishContext,
): Promise<Digests> {
  const own = definitionDigest(definition, base)
  const known = current?.definition === own ? current.source : null
  if (known !== null && mappingOnly) return { definition: own, source: known }
  try {
    return {
      definition: own,
      source: digestWithLookups(
        definition,
        portal,
        await sourceDigest(definition, portal, sourceStates(versions, definition.id)),
      ),
    }
  } catch (error) {
    if (known === null || textOf(file) === textOf(current?.mapping)) throw error
    return { definition: own, source: known }
  }
}

export function textOf(mapping: { readonly text: string } | null | undefined): string | null {
  return mapping?.text ?? null
}
