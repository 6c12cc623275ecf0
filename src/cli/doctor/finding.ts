import { lookup } from '../../model/lookup.ts'

/** One thing that was looked at. */
export interface DoctorFinding {
  /** What was looked at, in a word or two. */
  readonly check: string
  /** A warning works and should not stay so; a problem keeps the portal, or a part of it, from working. */
  readonly status: 'ok' | 'warning' | 'problem'
  readonly message: string
  /** What to do about it. */
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

/** What to do where a look fails. */
const ADVICE: Readonly<Record<string, string>> = {
  store: 'see the settings store and store_…, and whether the engine is up',
}

/** What a look found, or that it could not look. */
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
