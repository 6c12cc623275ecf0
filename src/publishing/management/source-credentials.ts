import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readDocument } from '../../config/document.ts'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { DATASET_SCHEMA } from '../definition-schema.ts'
import { DEFINITION } from './drafts.ts'

/** The reason why credentials are refused: it is the same whether there is such a variable or not. */
export const CREDENTIALS_REFUSED =
  'authorization sends a secret of the server to the address: only who has the portal folder may name one, or change the host of its address,'

/**
 * Refuses a dataset.yaml whose source has credentials, unless the one in the portal folder, written by hand, sends the same ones to
 * the same host: otherwise a publisher could have those of any other source sent to a host of his own. Faults: BadRequest.
 *
 * @param text of the dataset.yaml of a draft
 */
export function refuseOtherCredentials(portal: string, id: string, text: string): void {
  const requested = sourceIn(text)
  if (requested?.authorization === undefined) return
  const file = path.join(portal, 'data', id, DEFINITION)
  const inForce = existsSync(file) ? sourceIn(readFileSync(file, 'utf8')) : undefined
  if (isSentAlike(requested, inForce)) return
  throw new Fault(BAD_REQUEST, { reason: `${CREDENTIALS_REFUSED} in dataset.yaml.` })
}

interface AddressWithCredentials {
  readonly url?: string | undefined
  readonly authorization?: string | undefined
}

/** True if two addresses have the same credentials, protocol and host. */
export function isSentAlike(one: AddressWithCredentials, other: AddressWithCredentials | undefined): boolean {
  const host = hostOf(one.url)
  return host !== null && one.authorization === other?.authorization && host === hostOf(other?.url)
}

/** Protocol and host with port: ftps: has no origin of its own in URLs. */
function hostOf(url: string | undefined): string | null {
  if (url === undefined || !URL.canParse(url)) return null
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

function sourceIn(text: string): AddressWithCredentials | undefined {
  return readDocument(text, DEFINITION, DATASET_SCHEMA).value?.source
}
