import type { Authenticated } from '../model/principal.ts'
import type { Failures } from './failures.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Passkeys } from './passkeys.ts'
import type { SingleUse } from './single-use.ts'

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
  /** What `code_verifier` is to have as its SHA-256, in base64url; null where there was none. */
  readonly challenge: string | null
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

/** A session as lists show it; moments are ISO 8601 in UTC. */
export interface SessionInfo {
  readonly id: number
  readonly begun: string
  readonly used: string
  /** True for the session of the request itself. */
  readonly isOwn?: true
}

/** Something that was done, for the audit log. */
export interface AuditEvent {
  /** ISO 8601 in UTC. */
  readonly moment: string
  /** Name of a user, `anonymous`, or `local:` and the name of who ran a command. */
  readonly actor: string
  readonly action: string
  readonly subject: string
  /** Address of the client, or `local`. */
  readonly address: string
}

export interface Audit {
  /** Adds an event of now; without an actor, of the current principal. */
  note(
    action: string,
    subject: string,
    actor?: { readonly name: string; readonly address: string },
  ): Promise<void>
  /** All events, the oldest first. @param since milliseconds since 1970 */
  events(since: number): AsyncGenerator<AuditEvent>
}

export interface LinkedIdentities {
  /** The user whom another service knows by its subject; made where there is none yet. */
  user(given: { readonly issuer: string; readonly subject: string; readonly name: string }): Promise<User>
  /** Gives a user the grants of his groups, and takes those back that groups give and his do not. */
  setGrants(user: User, managed: ReadonlySet<string>, granted: ReadonlySet<string>): Promise<void>
}

/**
 * Accounts: who there is, what each may see, and the secrets by which they are recognised, stored as hashes. All
 * of it is in one database: a file, which other processes of this machine may write to at the same time, or a PostgreSQL
 * that several Lodestones share. What one changes counts at once for itself and for all who use the same file, and within
 * a second for the others.
 *
 * Names of users are compared without regard to case. Faults: AccountInvalid for what cannot be written down (its
 * reason says what was found and what is expected), AccountUnknown for who or what there is not, AccountsUnavailable
 * where the database is unavailable.
 */
export interface Accounts {
  readonly users: Users
  readonly keys: Keys
  readonly sessions: Sessions
  readonly clients: Clients
  readonly tokens: Tokens
  readonly identities: LinkedIdentities
  readonly secondFactors: SecondFactors
  readonly singleUse: SingleUse
  readonly passkeys: Passkeys
  readonly audit: Audit
  readonly calls: CallCounts
  /** Of those who share a database together, of a file those of this process. */
  readonly failures: Failures
  /** A secret of this portal, 32 random bytes made once: for what is signed and for names that are stored hashed. */
  readonly secret: Buffer
  /**
   * Writes a copy as of one moment, although others write meanwhile: a file that serves as accounts itself, wherever
   * these are. The file must not exist.
   */
  backup(file: string): Promise<void>
  /**
   * Puts what is in a backup, or in the file of another portal, in the place of all that is here, as a whole or not at
   * all. The secret of the portal becomes that of the file: who runs on these accounts has to begin anew.
   */
  restore(file: string): Promise<void>
  /** Writes what is not written yet (last uses), then closes. */
  close(): Promise<void>
}

export interface Users {
  /** The password is hashed with scrypt. Faults: AccountInvalid for a name that is taken, or is none, and a short or common password. */
  add(name: string, password: string, quota?: number | null): Promise<User>
  list(): Promise<readonly User[]>
  /** Faults: AccountUnknown. */
  find(name: string): Promise<User>
  byId(id: number): Promise<User | null>
  /**
   * Ends all sessions of the user as well, and revokes the codes and tokens of applications.
   *
   * @param more `revokeKeys` for API keys and passkeys too, as after a theft
   */
  setPassword(name: string, password: string, more?: { readonly revokeKeys?: boolean }): Promise<void>
  setQuota(name: string, quota: number | null): Promise<void>
  /** The user, where the password is right; null otherwise, after the same time, also where there is no such user. */
  verify(name: string, password: string): Promise<User | null>
  grant(name: string, dataset: string): Promise<void>
  /** Faults: AccountUnknown also where there is no such grant. */
  revoke(name: string, dataset: string): Promise<void>
  /** With keys, sessions, applications, tokens and grants. */
  remove(name: string): Promise<void>
}

export interface Keys {
  /** The key is returned here and never again: `key`, some 50 characters of A-Z a-z 0-9. */
  create(user: string, label: string): Promise<{ readonly key: string; readonly id: number }>
  /** Of one user, or all. */
  list(user?: string): Promise<readonly ApiKey[]>
  /** @param given the id, the hint, or the whole key. Faults: AccountUnknown. */
  revoke(given: string, user?: string): Promise<void>
  /** The principal of a key; null for none. Records the use. */
  principal(key: string): MaybePromise<Authenticated | null>
}

export interface Sessions {
  begin(user: number): Promise<Session>
  principal(token: string): MaybePromise<Authenticated | null>
  end(token: string): Promise<void>
  /** All of a user but one. */
  endOthers(user: number, token: string): Promise<void>
  /** All of a user, or one by its number. Faults: AccountUnknown. */
  endAll(name: string, id?: number): Promise<void>
  /** Those that have not ended, the latest first. Faults: AccountUnknown. */
  list(name: string, token?: string): Promise<readonly SessionInfo[]>
}

/** Whether a user signs in with a second factor beside the password. */
export type SecondFactorState =
  | { readonly type: 'off' }
  /** Begun and not confirmed: the secret, in base 32, is for the app of the user. */
  | { readonly type: 'pending'; readonly secret: string }
  /** With so many recovery codes that were not used. */
  | { readonly type: 'on'; readonly recoveryCodes: number }

/** One-time passwords of local users (RFC 6238) with recovery codes. Users are given by their ids. */
export interface SecondFactors {
  state(user: number): Promise<SecondFactorState>
  /** Makes a secret, which `state` returns until a code confirms it. Faults: AccountInvalid where one is in use. */
  begin(user: number): Promise<void>
  /** Puts the secret in use and returns new recovery codes; null for a wrong code. */
  confirm(user: number, code: string): Promise<readonly string[] | null>
  /** Checks and consumes a code of the app or a recovery code: each is accepted once. Null for a wrong one. */
  verify(user: number, code: string): Promise<'code' | 'recovery code' | null>
  /** New recovery codes in place of the old ones. Faults: AccountInvalid where there is no second factor. */
  renewCodes(user: number): Promise<readonly string[]>
  /** False where there was none. Faults: AccountUnknown. */
  remove(name: string): Promise<boolean>
}

export interface Clients {
  /** Faults: AccountInvalid for a redirect URI that is relative, has a fragment, or is http elsewhere than on this machine. */
  register(given: {
    readonly name: string
    readonly owner: string
    readonly redirectUris: readonly string[]
    readonly type: Client['type']
  }): Promise<{ readonly client: Client; readonly secret: string }>
  /** Of one owner, or all. */
  list(owner?: string): Promise<readonly Client[]>
  find(id: string): Promise<Client | null>
  verifySecret(id: string, secret: string): Promise<boolean>
  /** @param given id or name. With its codes and tokens. Faults: AccountUnknown. */
  remove(given: string, owner?: string): Promise<void>
}

/** The grant of a code or a refresh token. All that descends from one authorization belongs to one grant. */
export interface Descent {
  readonly client: string
  readonly user: number
  readonly scope: string
  readonly grant: string
}

/** A token that is valid. Moments are milliseconds since 1970. */
export interface LiveToken {
  readonly type: 'access' | 'refresh'
  readonly scope: string
  readonly user: number
  readonly name: string
  /** Null for one that does not expire by itself. */
  readonly expires: number | null
}

export interface Tokens {
  /** A code of 30 characters that is valid for ten minutes and can be redeemed once. Notes the consent. */
  issueCode(grant: CodeGrant): Promise<string>
  /** The grant of a code, also when it is consumed or expired; null for an unknown one. `expires` in ms since 1970. */
  findCode(
    code: string,
  ): Promise<(CodeGrant & Descent & { readonly expires: number; readonly consumed: boolean }) | null>
  /**
   * Consumes a code atomically; false where it was consumed before or its grant is revoked. Then it was presented twice, and
   * its grant is revoked (RFC 6749, section 4.1.2).
   */
  spendCode(code: string): Promise<boolean>
  /**
   * Spends a code and gives tokens for it, in one step: of many who present it at the same moment one is served, here or
   * elsewhere. Null where it is consumed, expired, or its grant is revoked.
   */
  redeemCode(code: string): Promise<IssuedTokens | null>
  /** The grant of a refresh token, also when it is consumed; null for an unknown one. */
  findRefresh(token: string): Promise<(Descent & { readonly consumed: boolean }) | null>
  /** Consumes a refresh token atomically; where it was consumed before, revokes its grant (RFC 9700, section 4.14.2). */
  spendRefresh(token: string): Promise<boolean>
  /** Spends a refresh token and gives tokens for it, in one step, like `redeemCode`. */
  redeemRefresh(token: string): Promise<IssuedTokens | null>
  /** Issues tokens for a grant; null where it was revoked meanwhile. */
  issue(descent: Descent): Promise<IssuedTokens | null>
  /** Revokes the grant of an access or a refresh token; nothing for an unknown one (RFC 7009). */
  revoke(token: string, client: string): Promise<void>
  /** The state of a token of a client; null for one that is unknown, consumed, expired, revoked, or of another client. */
  inspect(token: string, client: string): Promise<LiveToken | null>
  /** The principal of an access token; null for none, an expired or a revoked one. */
  principal(token: string): MaybePromise<Authenticated | null>
  /** What a user lets applications do. */
  consents(user: number): Promise<readonly Consent[]>
  /** With all codes and tokens. Faults: AccountUnknown. */
  withdraw(user: number, client: string): Promise<void>
}

/** Calls that were counted, day by day in UTC (`2026-11-21`); subjects are names such as `domain`. */
export interface CallCounts {
  read(day: string): Promise<ReadonlyMap<string, number>>
  /**
   * Adds to the counts of the day, in one transaction, and returns the new sums of all servers;
   * forgets days before it.
   */
  add(day: string, calls: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>
}
