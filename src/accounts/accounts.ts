import type { Authenticated } from '../model/principal.ts'
import type { MaybePromise } from './database.ts'
import type { Failures } from './failures.ts'
import type { Passkeys } from './passkeys.ts'
import type { SingleUse } from './secrets.ts'

/** A user in lists; times are ISO 8601 in UTC. */
export interface User {
  readonly id: number
  readonly name: string
  readonly created: string
  /** Ids of restricted datasets, `*` for all, sorted. */
  readonly grants: readonly string[]
  /** Maximum calls a day; null for the portal's default. */
  readonly quota: number | null
}

/** An API key in lists, without the key itself. */
export interface ApiKey {
  readonly id: number
  readonly user: string
  readonly label: string
  /** The first characters of the key, by which its owner recognises it. */
  readonly hint: string
  readonly created: string
  /** Day or moment of the last use, within a minute; null if it was never used. */
  readonly lastUse: string | null
}

/** An application that users authorise (RFC 6749, section 2). */
export interface Client {
  /** The client identifier. */
  readonly id: string
  readonly name: string
  readonly type: 'confidential' | 'public'
  /** Compared character by character. */
  readonly redirectUris: readonly string[]
  /** Name of the user who registered it. */
  readonly owner: string
  readonly created: string
}

/** A user's authorisation of an application. */
export interface Consent {
  readonly client: Pick<Client, 'id' | 'name' | 'type'>
  readonly scope: string
  readonly granted: string
}

/** The grant of an authorization code (RFC 6749, section 4.1; RFC 7636). */
export interface CodeGrant {
  readonly client: string
  readonly user: number
  /** Empty if the request named none, which is allowed for an application with a single one. */
  readonly redirectUri: string
  readonly scope: string
  /** Expected SHA-256 of `code_verifier`, in base64url; null if there was no challenge. */
  readonly challenge: string | null
}

/** What the token endpoint returns (RFC 6749, section 5.1). */
export interface IssuedTokens {
  readonly accessToken: string
  readonly refreshToken: string
  /** Seconds. */
  readonly expiresIn: number
  readonly scope: string
}

export interface Session {
  /** The value of the cookie. */
  readonly token: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

/** A session in lists; times are ISO 8601 in UTC. */
export interface SessionInfo {
  readonly id: number
  readonly begun: string
  readonly used: string
  /** True for the session of the request itself. */
  readonly isOwn?: true
}

/** An action in the audit log. */
export interface AuditEvent {
  /** ISO 8601 in UTC. */
  readonly moment: string
  /** Name of a user, `anonymous`, or `local:` and the system user who ran a command. */
  readonly actor: string
  readonly action: string
  readonly subject: string
  /** Address of the client, or `local`. */
  readonly address: string
}

export interface Audit {
  /** Adds an event with the current time; by default of the current principal. */
  note(
    action: string,
    subject: string,
    actor?: { readonly name: string; readonly address: string },
  ): Promise<void>
  /** All events, the oldest first. @param since milliseconds since 1970 */
  events(since: number): AsyncGenerator<AuditEvent>
}

export interface LinkedIdentities {
  /** The user with a subject of another service; created if there is none yet. */
  user(given: { readonly issuer: string; readonly subject: string; readonly name: string }): Promise<User>
  /** True if a user is linked to a subject of a service. */
  isLinked(user: number, issuer: string): Promise<boolean>
  /** Sets the grants that a user has from groups of a provider; those given by hand, and those of other providers, stay. */
  setGroupGrants(user: User, issuer: string, granted: ReadonlySet<string>): Promise<void>
}

/**
 * Accounts: users, their grants, and the secrets by which they are authenticated, stored as hashes. All of it is in one
 * database: a file, which other processes of this machine may write to at the same time, or a PostgreSQL database that several
 * Lodestones share. A change takes effect immediately in the same process and for all that use the same file, and within a
 * second for the others.
 *
 * Names of users are compared without regard to case. Faults: AccountInvalid for invalid values (its reason
 * states the value found and the values expected), AccountUnknown for an unknown user or object, AccountsUnavailable if the
 * database is unavailable.
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
  /** Failed attempts: of all processes that share a database, or, for a file, of this process. */
  readonly failures: Failures
  /** A secret of this portal, 32 random bytes generated once: for signatures and for names that are stored hashed. */
  readonly secret: Buffer
  /**
   * Writes a consistent copy, even during concurrent writes: an accounts file, whichever database these accounts are in. The
   * file must not exist.
   */
  backup(file: string): Promise<void>
  /**
   * Replaces all data by those of a backup, or of the file of another portal, atomically. The secret of the portal becomes that
   * of the file: processes that use these accounts must be restarted.
   */
  restore(file: string): Promise<void>
  /** Writes pending last uses, then closes. */
  close(): Promise<void>
}

export interface Users {
  /**
   * The password is hashed with scrypt; null for a user who signs in elsewhere. Faults: AccountInvalid for a name that is taken
   * or invalid, and a short or common password.
   */
  add(name: string, password: string | null, quota?: number | null): Promise<User>
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
  /** The user, if the password is right; null otherwise, after the same time, also for an unknown user and one without a password. */
  verify(name: string, password: string): Promise<User | null>
  /** Gives a grant by hand, which stays whatever groups the user is in. */
  grant(name: string, dataset: string): Promise<void>
  /** Faults: AccountUnknown also for an unknown grant. */
  revoke(name: string, dataset: string): Promise<void>
  /** With keys, sessions, applications, tokens and grants. */
  remove(name: string): Promise<void>
}

export interface Keys {
  /** Returns `key` only this once: about 50 characters of A-Z a-z 0-9. */
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

/** Whether a user signs in with a second factor in addition to the password. */
export type SecondFactorState =
  | { readonly type: 'off' }
  /** With so many recovery codes that were not used. */
  | { readonly type: 'on'; readonly recoveryCodes: number }

/** A second factor that was begun, and is in use when a code confirms it. */
export interface SecondFactorSetup {
  /** In base 32, for the app of the user. */
  readonly secret: string
  /** The encrypted secret, which the page that shows it sends back: it serves the session that began, for ten minutes. */
  readonly sealed: string
}

/** One-time passwords of local users (RFC 6238) with recovery codes. Users are given by their ids. */
export interface SecondFactors {
  state(user: number): Promise<SecondFactorState>
  /** Generates a secret, which is stored nowhere before it is confirmed. Faults: AccountInvalid if one is in use. */
  begin(user: number, session: string): Promise<SecondFactorSetup>
  /** What a user has begun in this session; null if it is of another one, or out of date. */
  begun(user: number, session: string, sealed: string): SecondFactorSetup | null
  /** Activates what was begun in this session and returns new recovery codes; null for a wrong code. */
  confirm(user: number, session: string, sealed: string, code: string): Promise<readonly string[] | null>
  /** Checks and consumes a code of the app or a recovery code: each is accepted once. Null for a wrong one. */
  verify(user: number, code: string): Promise<'code' | 'recovery code' | null>
  /** Replaces the recovery codes. Faults: AccountInvalid if there is no second factor. */
  renewCodes(user: number): Promise<readonly string[]>
  /** False if there was none. Faults: AccountUnknown. */
  remove(name: string): Promise<boolean>
}

export interface Clients {
  /** Faults: AccountInvalid for a redirect URI that is relative, has a fragment, or is http to another host than this machine. */
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

/** The grant of a code or a refresh token. All codes and tokens from one authorization belong to one grant. */
export interface Descent {
  readonly client: string
  readonly user: number
  readonly scope: string
  readonly grant: string
}

/** A valid token. Times are milliseconds since 1970. */
export interface LiveToken {
  readonly type: 'access' | 'refresh'
  readonly scope: string
  readonly user: number
  readonly name: string
  /** Null for one that does not expire by itself. */
  readonly expires: number | null
}

export interface Tokens {
  /** A code of 30 characters that is valid for ten minutes and can be redeemed once. Records the consent. */
  issueCode(grant: CodeGrant): Promise<string>
  /** The grant of a code, also when it is consumed or expired; null for an unknown one. `expires` in ms since 1970. */
  findCode(
    code: string,
  ): Promise<(CodeGrant & Descent & { readonly expires: number; readonly consumed: boolean }) | null>
  /**
   * Consumes a code atomically; false if it was consumed before or its grant is revoked. A code that is presented twice revokes
   * its grant (RFC 6749, section 4.1.2).
   */
  consumeCode(code: string): Promise<boolean>
  /**
   * Consumes a code and issues tokens for it, atomically: of concurrent requests only one is served, across all processes.
   * Null if it is consumed, expired, or its grant is revoked.
   */
  redeemCode(code: string): Promise<IssuedTokens | null>
  /** The grant of a refresh token, also when it is consumed; null for an unknown one. */
  findRefresh(token: string): Promise<(Descent & { readonly consumed: boolean }) | null>
  /** Consumes a refresh token atomically; if it was consumed before, revokes its grant (RFC 9700, section 4.14.2). */
  spendRefresh(token: string): Promise<boolean>
  /** Consumes a refresh token and issues tokens for it, atomically, like `redeemCode`. */
  redeemRefresh(token: string): Promise<IssuedTokens | null>
  /** Issues tokens for a grant; null if it was revoked meanwhile. */
  issue(descent: Descent): Promise<IssuedTokens | null>
  /** Revokes the grant of an access or a refresh token; nothing for an unknown one (RFC 7009). */
  revoke(token: string, client: string): Promise<void>
  /** The state of a token of a client; null for one that is unknown, consumed, expired, revoked, or of another client. */
  inspect(token: string, client: string): Promise<LiveToken | null>
  /** The principal of an access token; null for none, an expired or a revoked one. */
  principal(token: string): MaybePromise<Authenticated | null>
  /** A user's authorisations of applications. */
  consents(user: number): Promise<readonly Consent[]>
  /** With all codes and tokens. Faults: AccountUnknown. */
  withdraw(user: number, client: string): Promise<void>
}

/** Calls that were counted, day by day in UTC (`2026-11-21`); subjects are names such as `domain`. */
export interface CallCounts {
  read(day: string): Promise<ReadonlyMap<string, number>>
  /**
   * Adds to the counts of the day, in one transaction, and returns the new sums of all servers;
   * deletes earlier days.
   */
  add(day: string, calls: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>
}
