import { lookup } from '../../model/lookup.ts'

/** The result of one check. */
export interface DoctorFinding {
  /** The subject of the check, in a word or two. */
  readonly check: string
  /** A warning should be fixed although everything works; a problem prevents the portal, or a part of it, from working. */
  readonly status: 'ok' | 'warning' | 'problem'
  readonly message: string
  readonly advice?: string
}

export function ok(check: string, message: string): DoctorFinding {
  return { check, status: 'ok', message }
}

export function warning(check: string, message: string, advice: string): DoctorFinding {
  return { check, status: 'warning', message, advice }
}

export function problem(check: string, message: string, advice: string): DoctorFinding {
  return { check, status: 'problem', message, advice }
}

/** Advice for failed checks. */
const ADVICE: Readonly<Record<string, string>> = {
  store: 'see the settings store and store_…, and whether the engine is up',
}

/** The findings of a check, or that it failed. */
export async function looked(
  check: string,
  look: () => readonly DoctorFinding[] | Promise<readonly DoctorFinding[]>,
): Promise<readonly DoctorFinding[]> {
  try {
    return await look()
  } catch (error) {
    return [problem(check, (error as Error).message, lookup(ADVICE, check) ?? 'it could not be looked at')]
  }
}
