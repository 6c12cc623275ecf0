import { rmSync } from 'node:fs'
import path from 'node:path'
import { mayPublish, unauthorisedOrForbidden } from '../../accounts/authorisation.ts'
import { editedDocument } from '../../config/edited-document.ts'
import { BAD_REQUEST, CONFLICT, Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import type { Principal } from '../../model/principal.ts'
import { isSchedule, SCHEDULE_EXPECTED } from '../../runtime/cron.ts'
import { refuseOutside } from '../../sources/packages.ts'
import { type Definition, definitionProblems, readDefinition } from '../definition.ts'
import { changedDefinition, type DefinitionChange } from '../edit-definition.ts'
import { openMapping, saveMapping } from '../mapping/mapping-file.ts'
import type { PublicationState } from '../publication-state.ts'
import { withdrawEverywhere } from '../registry/registry.ts'
import { requireWritable } from '../versions/durable.ts'
import { rollBack } from '../versions/roll-back.ts'
import { currentManifest, type VersionManifest } from '../versions/versions.ts'
import { asBadRequest, type DatasetPreview, type inspectDataset } from './dataset-preview.ts'
import {
  describeDataset,
  idsAtDesk,
  isAtDesk,
  moveAway,
  moveCutOff,
  pathsInPortal,
  removeCutOffDrafts,
  takenIds,
  withoutFolders,
} from './datasets.ts'
import { type DeskDataset, type DeskFinding, type DeskOptions, EDIT_CONFLICT } from './desk-types.ts'
import {
  applyDraft,
  completeDrafts,
  type DatasetDraft,
  definitionText,
  discardDraft,
  type EditedPart,
  editedDigest,
  findDraft,
  noSource,
  openDraft,
  refuseOutdated,
  writeDefinition,
} from './drafts.ts'
import { type Action, type HistoryEntry, historyOf, noteHistory } from './history.ts'
import { reading, sourceBytes } from './readings.ts'
import { refuseOtherCredentials } from './source-credentials.ts'
import {
  FirstFetch,
  Inspections,
  receiveFile,
  removeCutOffUploads,
  type UploadedFile,
  uploadName,
} from './uploads.ts'

/**
 * The operations of publishers: changes are collected in a draft next to the portal folder, and publishing moves the files of the
 * draft to the portal folder, which remains authoritative. Each operation requires the right to publish. Faults: Unauthorised,
 * ForbiddenAccess, NotFoundResource, BadRequest, Conflict.
 */
export class Desk {
  readonly options: DeskOptions
  private readonly publishing = new Set<string>()
  private readonly firstFetch: FirstFetch
  private readonly inspections: Inspections

  constructor(options: DeskOptions) {
    this.options = options
    completeDrafts(options.portal)
    removeCutOffUploads(options.portal)
    removeCutOffDrafts(options.portal, options.now())
    this.firstFetch = new FirstFetch(options.portal, options.now)
    this.inspections = new Inspections(options.now)
  }

  /** Throws if a principal may not publish a dataset; null for one that does not exist yet. */
  admit(principal: Principal, id: string | null): string {
    if (principal.type === 'anonymous' || !mayPublish(principal, id))
      throw unauthorisedOrForbidden(principal, 'Publishing')
    return principal.name
  }

  /** The ids of the datasets that a principal may publish, sorted. */
  ids(principal: Principal): readonly string[] {
    return idsAtDesk(this.options.portal).filter(id => mayPublish(principal, id))
  }

  dataset(principal: Principal, id: string): DeskDataset {
    this.admitTo(principal, id)
    return this.describe(id)
  }

  /** The definition in the draft, or else in the portal folder; null if dataset.yaml cannot be read. */
  definition(principal: Principal, id: string): Definition | null {
    this.admitTo(principal, id)
    return readDefinition(this.rootOf(id), id).definition
  }

  /** See {@link takenIds}. */
  taken(): ReadonlySet<string> {
    return takenIds(this.options.portal)
  }

  /** Creates an empty draft of a new dataset. */
  create(principal: Principal, id: string, title: string | null): void {
    const by = this.admit(principal, id)
    if (this.taken().has(id)) throw new Fault(CONFLICT, { reason: `There is a dataset ${id} already.` })
    this.draft(id, by, title ?? undefined)
    this.note(id, by, 'create')
  }

  /**
   * Creates a draft of a dataset whose source is an address, and fetches it; its fields are inferred at each publication. If the
   * address cannot be fetched, because it needs credentials, for example, the preview of the draft gives the reason.
   */
  async createRemote(principal: Principal, id: string, url: string, refresh: string | null): Promise<void> {
    const { portal } = this.options
    if (refresh !== null && !isSchedule(refresh))
      throw new Fault(BAD_REQUEST, {
        reason: `${JSON.stringify(refresh.slice(0, 100))} is no schedule: ${SCHEDULE_EXPECTED}.`,
      })
    this.create(principal, id, null)
    try {
      await this.change(principal, id, {
        source: { url },
        refresh,
        metas: { default: { title: id, description: '' } },
        visibility: 'public',
      })
    } catch (error) {
      discardDraft(portal, id)
      throw error
    }
    await this.firstFetch.ensure(this.rootOf(id), id, true).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error
    })
  }

  /**
   * Receives a file as a stream and makes it the source, under another name if another file of the dataset has its own. Faults
   * also: ContentTooLarge.
   */
  async upload(principal: Principal, id: string, given: UploadedFile): ReturnType<typeof receiveFile> {
    const by = this.admit(principal, id)
    const requested = uploadName(given.name)
    const { portal, uploadLimit } = this.options
    const isUnknown = () => {
      const found = !isAtDesk(portal, id)
      if (found && this.taken().has(id))
        throw new Fault(CONFLICT, {
          reason: `The data of ${id} have no dataset.yaml: write one in the portal folder first, or choose another dataset id.`,
        })
      return found
    }
    isUnknown()
    let isNew = false
    const open = () => {
      isNew = isUnknown() || isNew
      return this.draft(id, by)
    }
    const file = { ...given, name: requested }
    const received = await receiveFile({ portal, id, open }, file, uploadLimit).catch((error: unknown) => {
      if (isNew) discardDraft(portal, id)
      throw error
    })
    this.note(id, by, isNew ? 'create' : 'upload', [received.name])
    return received
  }

  /** Identifies the text of dataset.yaml, or of the mapping, that a form is made from. */
  digest(principal: Principal, id: string, part: EditedPart): string {
    this.admitTo(principal, id)
    return editedDigest(this.rootOf(id), id, part)
  }

  /**
   * Changes dataset.yaml. Faults also: EditConflict.
   *
   * @param opened digest of the text that was edited; without it the text that is there is changed
   */
  async change(principal: Principal, id: string, change: DefinitionChange, opened?: string): Promise<void> {
    const by = this.admitTo(principal, id)
    refuseOutdated(this.rootOf(id), id, 'definition', opened)
    if (change.source?.module !== undefined)
      throw new Fault(BAD_REQUEST, {
        reason:
          'A module is code that the server runs: only who has the portal folder may name one, in dataset.yaml.',
      })
    await asBadRequest(() => refuseOutside(change.source ?? {}))
    const root = this.rootOf(id)
    const before = this.textOf(id)
    if (before.trim() === '' && change.source === undefined)
      throw new Fault(CONFLICT, { reason: noSource(id) })
    const whole = await reading(sourceBytes(root, id), 'completedChange', [root, id, change])
    const text = await asBadRequest(() => changedDefinition(before, whole))
    // What only the notation would change is no change.
    if (text === before || text === editedDocument(before, 'dataset.yaml', () => undefined)) return
    if (this.textOf(id) !== before) throw new Fault(EDIT_CONFLICT, { what: 'definition', id })
    refuseOtherCredentials(this.options.portal, id, text)
    // Earlier problems, for example of manual edits, may be fixed step by step.
    const isWhole = change.fields !== undefined && change.processors === undefined
    const known = definitionProblems(before, isWhole)
    const added = definitionProblems(text, isWhole).filter(problem => !known.includes(problem))
    if (added.length > 0) throw new Fault(BAD_REQUEST, { reason: added.join('\n') })
    writeDefinition(this.draft(id, by), text)
    this.note(id, by, 'update', Object.keys(change))
  }

  /** The mapping in the draft, or else in the portal folder; null for the direct mapping. */
  mapping(principal: Principal, id: string): string | null {
    this.admitTo(principal, id)
    return openMapping(this.rootOf(id), id).text
  }

  /** Changes the mapping; null removes it. Faults also: EditConflict. @param opened as in {@link change} */
  changeMapping(principal: Principal, id: string, text: string | null, opened?: string): void {
    const by = this.admitTo(principal, id)
    refuseOutdated(this.rootOf(id), id, 'mapping', opened)
    if (text === openMapping(this.rootOf(id), id).text) return
    const draft = this.draft(id, by)
    const { file, digest } = openMapping(draft.root, id)
    if (text === null) rmSync(file, { force: true })
    else {
      const saved = saveMapping(draft.root, id, text, digest, new Date(this.options.now()))
      if (saved.type === 'unwritable')
        throw Object.assign(new Error(`the mapping of ${id} cannot be saved`), saved)
    }
    this.note(id, by, 'update', ['mapping'])
  }

  /** The first records as they will be published. */
  async preview(principal: Principal, id: string, rows: number): Promise<DatasetPreview> {
    return this.fetched(principal, id, root =>
      reading(sourceBytes(root, id), 'previewDataset', [root, id, rows]),
    )
  }

  /** What is inferred of the source if it is read with a format and options; null and no options if they are detected. */
  async inspect(principal: Principal, id: string, how: Parameters<typeof inspectDataset>[2]) {
    return this.fetched(principal, id, root => this.inspections.inspect(root, id, how))
  }

  /** Everything that publishing would refuse or drop. */
  async check(principal: Principal, id: string): Promise<readonly DeskFinding[]> {
    this.admitTo(principal, id)
    const root = this.rootOf(id)
    const inPortal = (message: string) => pathsInPortal(message, [root, this.options.portal])
    if (this.textOf(id).trim() === '') return [{ severity: 'error', message: noSource(id) }]
    try {
      await this.firstFetch.ensure(root, id, false)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return [{ severity: 'error', message: inPortal(error.message) }]
    }
    const { base, portal } = this.options
    const findings = await reading(sourceBytes(root, id), 'checkDataset', [root, base, id, [id], portal])
    return findings.map(finding => ({ ...finding, message: inPortal(finding.message) }))
  }

  /**
   * Moves a draft to the portal folder and publishes it, or publishes again what is there. It resolves when the files are in
   * place; {@link status} reports the progress of publishing. Faults also: BadRequest with all errors of a check.
   */
  async publish(principal: Principal, id: string): Promise<void> {
    const by = this.admitTo(principal, id)
    const { portal, publications, publish } = this.options
    if (this.publishing.has(id)) throw new Fault(CONFLICT, { reason: `${id} is being published.` })
    this.publishing.add(id)
    try {
      await this.firstFetch.ensure(this.rootOf(id), id, true)
      const errors = (await this.check(principal, id)).filter(({ severity }) => severity === 'error')
      if (errors.length > 0)
        throw new Fault(BAD_REQUEST, { reason: errors.map(({ message }) => message).join('\n') })
      const draft = findDraft(portal, id)
      const changed = draft === null ? [] : ['draft']
      if (draft !== null) applyDraft(portal, draft)
      publications.forget(id)
      const published = ignoreRejection(
        publish(id).then(() => !['failed', 'refused', 'running'].includes(publications.of(id)?.type ?? '')),
        'whoever gave `publish` reports it',
      )
      void published.then((isPublished = false) => {
        this.publishing.delete(id)
        const version = isPublished ? (currentManifest(this.options.versions, id)?.version ?? null) : null
        this.note(id, by, isPublished ? 'publish' : 'publish failed', changed, version)
      })
    } catch (error) {
      this.publishing.delete(id)
      throw error
    }
  }

  /** Withdraws a dataset until it is published again; its files stay. */
  async withdraw(principal: Principal, id: string): Promise<void> {
    const by = this.admit(principal, id)
    const { versions, shared, refresh } = this.options
    if (!(await withdrawEverywhere(versions, shared, id)))
      throw new Fault(NOT_FOUND_RESOURCE, { kind: 'published dataset', id: id.slice(0, 100) })
    this.note(id, by, 'withdraw')
    await refresh()
  }

  /** Puts an older version in force. Faults also: VersionUnknown, Conflict while the dataset is published. */
  async rollBack(principal: Principal, id: string, version: string | null): Promise<VersionManifest> {
    const by = this.admit(principal, id)
    if (this.publishing.has(id)) throw new Fault(CONFLICT, { reason: `${id} is being published.` })
    const { versions, base, now, shared, refresh } = this.options
    // First: what is rolled back while the store is away would be taken back by a second attempt.
    await shared?.inForce(id)
    const manifest = await rollBack(id, version, { versions, base, now: () => new Date(now()) })
    await shared?.release(versions, manifest)
    this.note(id, by, 'roll back', [], manifest.version)
    await refresh()
    return manifest
  }

  /** Discards changes that are not published. */
  discard(principal: Principal, id: string): void {
    this.admitTo(principal, id)
    moveCutOff(this.options.portal, id, this.moment())
    discardDraft(this.options.portal, id)
    this.firstFetch.forget(id)
  }

  /** Removes a dataset with its versions; its files are moved to var/deleted. */
  async remove(principal: Principal, id: string): Promise<void> {
    const by = this.admitTo(principal, id)
    const { portal, versions, shared, refresh } = this.options
    requireWritable(path.join(portal, 'data'))
    await withdrawEverywhere(versions, shared, id)
    discardDraft(portal, id)
    moveAway(portal, id, this.moment())
    this.firstFetch.forget(id)
    this.note(id, by, 'delete')
    await refresh()
  }

  /** The state of the latest publication. */
  status(principal: Principal, id: string): PublicationState | null {
    this.admit(principal, id)
    const found = this.options.publications.of(id)
    const known =
      found?.type === 'failed'
        ? { ...found, reason: pathsInPortal(found.reason, [this.options.portal]) }
        : found
    // A published dataset is served a moment later.
    if (!this.publishing.has(id) || known?.type === 'running') return known
    return { type: 'running', records: 0 }
  }

  history(principal: Principal, id: string): readonly HistoryEntry[] {
    this.admitTo(principal, id)
    return historyOf(this.options.portal, id)
  }

  private describe(id: string): DeskDataset {
    return describeDataset(this.options, id)
  }

  /** As {@link admit}, for a dataset that must exist. */
  private admitTo(principal: Principal, id: string): string {
    const by = this.admit(principal, id)
    if (isAtDesk(this.options.portal, id)) return by
    throw new Fault(NOT_FOUND_RESOURCE, { kind: 'dataset', id: id.slice(0, 100) })
  }

  /** What is read of the source of a dataset, which is fetched first if it is an address. */
  private fetched<Read>(
    principal: Principal,
    id: string,
    read: (root: string) => Promise<Read>,
  ): Promise<Read> {
    this.admitTo(principal, id)
    const root = this.rootOf(id)
    return withoutFolders([root, this.options.portal], async () => {
      await this.firstFetch.ensure(root, id, false)
      return read(root)
    })
  }

  /** The root of the files that are published next: that of the draft or of the portal. */
  rootOf(id: string): string {
    return findDraft(this.options.portal, id)?.root ?? this.options.portal
  }

  /** The text of dataset.yaml that is published next; empty if there is none yet. */
  private textOf(id: string): string {
    return definitionText({ folder: path.join(this.rootOf(id), 'data', id) })
  }

  private draft(id: string, by: string, title?: string): DatasetDraft {
    return openDraft(this.options.portal, id, by, new Date(this.options.now()), title)
  }

  private moment(): string {
    return new Date(this.options.now()).toISOString()
  }

  private note(
    id: string,
    by: string,
    action: Action,
    changed: readonly string[] = [],
    version: string | null = null,
  ): void {
    noteHistory(this.options.portal, id, { at: this.moment(), by, action, version, changed })
  }
}
