import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  statfsSync,
} from 'node:fs'
import path from 'node:path'
import { Fault } from '../errors/errors.ts'
import { ACCOUNT_INVALID } from './faults.ts'

/** Creates the file of a database and its folder if they are absent; only its owner can read it. */
export function makePrivateFile(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  const descriptor = openSync(file, 'a+', 0o600)
  try {
    keepPrivate(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes a file with other permissions, such as a copied backup, private if its owner opens it. */
function keepPrivate(descriptor: number): void {
  const { uid, mode } = fstatSync(descriptor)
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) fchmodSync(descriptor, 0o600)
}

/** Creates the empty file of a backup, readable only by its owner. Faults: AccountInvalid if it exists. */
export function makeBackupFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason =
      code === 'EEXIST'
        ? `${file} exists already, and is not overwritten`
        : `${file} cannot be written: ${code}`
    throw new Fault(ACCOUNT_INVALID, { reason })
  }
}

/** True for a file that exists on a disk that is mounted for reading alone. */
export function isOnReadOnlyDisk(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

/** The free bytes of the disk of a file. */
export function freeBytes(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(path.dirname(file))
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
