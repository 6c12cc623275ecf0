import { timeStep, totpCode } from '../../src/accounts/second-factors.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** What an authenticator app does: the code of a secret in base 32 at a moment in milliseconds since 1970. */
export function codeAt(secret: string, moment: number): string {
  const bits = [...secret].map(letter => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const bytes = (bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2))
  return totpCode(Buffer.from(bytes), timeStep(moment))
}
