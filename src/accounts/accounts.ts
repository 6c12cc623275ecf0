import type { Authenticated } from '../model/principal.ts'

/** A user as lists show it; moments are ISO 8601 in UTC. */
export interface User {
  readonly id: number
  readonly name: string
  readonly created: string
  /** Ids of restricted datasets, `*` for all, sorted. */
  readonly grants: readonly string[]
  /** Calls of a day; null for what the portal gives every user. */
  readonly quota: number | null
}

/** An API key as lists show it: never the key again. */
export interface ApiKey {
  readonly id: number
  readonly user: string
  readonly label: string
  /** The first characters of the key, by which its owner knows it. */
  readonly hint: string
  readonly created: string
  /** Day or moment of the last use, within a minute; null where it was never used. */
  readonly lastUse: string | null
}

/** An application that users let act for them (RFC 6749, section 2). */
export interface Client {
  /** The client identifier. */
  readonly id: string
  readonly name: string
  readonly type: 'confidential' | 'public'
  /** Exactly these, character by character. */
  readonly redirectUris: readonly string[]
  /** Name of the user who registered it. */
  readonly owner: string
  readonly created: string
}

/** What a user lets an application do. */
export interface Consent {
  readonly client: Pick<Client, 'id' | 'name' | 'type'>
  readonly scope: string
  readonly granted: string
}

/** An authorization code as it is redeemed (RFC 6749, section 4.1; RFC 7636). */
export interface CodeGrant {
  readonly client: string
  readonly user: number
  /** Empty where the request named none, which an application with a single one may do. */
  readonly redirectUri: string
  readonly scope: string
  readonly challenge: { readonly value: string; readonly method: 'plain' | 'S256' } | null
}

/** What the token endpoint gives (RFC 6749, section 5.1). */
export interface IssuedTokens {
  readonly accessToken: string
  readonly refreshToken: string
  /** Seconds. */
  readonly expiresIn: number
  readonly scope: string
}

export interface Session {
  /** What the cookie carries. */
  readonly token: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

/**
 * Accounts: who there is, what each may see, and the secrets by which they are recognised, of which hashes are kept. All
 * of it is in one database file; other processes may write to it at the same time, and what they change counts at once.
 *
 * Names of users are compared without regard to case. Faults: AccountInvalid for what cannot be written down (its
 * reason says what was found and what is expected), AccountUnknown for who or what there is not.
 */
export interface Accounts {
  readonly users: Users
  readonly keys: Keys
  readonly sessions: Sessions
  readonly clients: Clients
  readonly tokens: Tokens
  readonly calls: CallCounts
  /** A secret of this portal, 32 random bytes made once: for what is signed and for names that are stored hashed. */
  readonly secret: Buffer
  /** Writes a copy that is whole although others write meanwhile. The file must not exist. */
  backup(file: string): void
  /** Writes what is not written yet (last uses), then closes. */
  close(): void
}

export interface Users {
  /** The password is hashed with scrypt. Faults: AccountInvalid for a name that is taken, or is none, and a short password. */
  add(name: string, password: string, quota?: number | null): Promise<User>
  list(): readonly User[]
  /** Faults: AccountUnknown. */
  find(name: string): User
  byId(id: number): User | null
  /** Ends all sessions of the user as well. */
  setPassword(name: string, password: string): Promise<void>
  setQuota(name: string, quota: number | null): void
  /** The user, where the password is right; null otherwise, after the same time, also where there is no such user. */
  verify(name: string, password: string): Promise<User | null>
  grant(name: string, dataset: string): void
  /** Faults: AccountUnknown also where there is no such grant. */
  revoke(name: string, dataset: string): void
  /** With keys, sessions, applications, tokens and grants. */
  remove(name: string): void
}

export interface Keys {
  /** The key is told here and never again: `key`, some 50 characters of A-Z a-z 0-9. */
  create(user: string, label: string): { readonly key: string; readonly id: number }
  /** Of one user, or all. */
  list(user?: string): readonly ApiKey[]
  /** @param given the id, the hint, or the whole key. Faults: AccountUnknown. */
  revoke(given: string, user?: string): void
  /** Who a key stands for; null for none. Notes the use. */
  principal(key: string): Authenticated | null
}

export interface Sessions {
  begin(user: number): Session
  principal(token: string): Authenticated | null
  end(token: string): void
  /** All of a user but one. */
  endOthers(user: number, token: string): void
}

export interface Clients {
  /** Faults: AccountInvalid for a redirect URI that is relative, has a fragment, or is http elsewhere than on this machine. */
  register(given: {
    readonly name: string
    readonly owner: string
    readonly redirectUris: readonly string[]
    readonly type: Client['type']
  }): { readonly client: Client; readonly secret: string }
  /** Of one owner, or all. */
  list(owner?: string): readonly Client[]
  find(id: string): Client | null
  verifySecret(id: string, secret: string): boolean
  /** @param given id or name. With its codes and tokens. Faults: AccountUnknown. */
  remove(given: string, owner?: string): void
}

/** What a code or a refresh token stands for. All that descends from one authorization is of one family. */
export interface Descent {
  readonly client: string
  readonly user: number
  readonly scope: string
  readonly family: string
}

export interface Tokens {
  /** A code of 30 characters that is valid for an hour and can be redeemed once. Notes the consent. */
  issueCode(grant: CodeGrant): string
  /** What a code stands for, also when it is spent or expired; null for an unknown one. `expires` in ms since 1970. */
  findCode(code: string): (CodeGrant & Descent & { readonly expires: number; readonly spent: boolean }) | null
  /**
   * Spends a code, in one step; false where it was spent before or its family is revoked. Then it was presented twice, and
   * its family is revoked (RFC 6749, section 4.1.2).
   */
  spendCode(code: string): boolean
  /** What a refresh token stands for, also when it is spent; null for an unknown one. */
  findRefresh(token: string): (Descent & { readonly spent: boolean }) | null
  /** Spends a refresh token, in one step; where it was spent before, revokes its family (RFC 9700, section 4.14.2). */
  spendRefresh(token: string): boolean
  /** Gives tokens to a family; null where it was revoked meanwhile. */
  issue(descent: Descent): IssuedTokens | null
  /** Revokes the family of an access or a refresh token; nothing for an unknown one (RFC 7009). */
  revoke(token: string, client: string): void
  /** Who an access token stands for; null for none, an expired or a revoked one. */
  principal(token: string): Authenticated | null
  /** What a user lets applications do. */
  consents(user: number): readonly Consent[]
  /** With all codes and tokens. Faults: AccountUnknown. */
  withdraw(user: number, client: string): void
}

/** Calls that were counted, day by day in UTC (`2026-11-21`); subjects are names such as `domain`. */
export interface CallCounts {
  read(day: string): ReadonlyMap<string, number>
  /** Replaces the counts of the day that are given, in one transaction; forgets days before it. */
  write(day: string, counts: ReadonlyMap<string, number>): void
}
