/**
 * Attributes earlier grants of users of a provider to it, except those whose latest event in the audit log is of a command:
 * the next sign-in removes what no group gives.
 */
export const ATTRIBUTE_GRANTS = `UPDATE user_grant
     SET issuer = (SELECT min(issuer) FROM identity WHERE identity.account = user_grant.account)
     WHERE account IN (SELECT account FROM identity)
     AND (SELECT lower(name) FROM account WHERE id = user_grant.account) || ': ' || dataset NOT IN
       (SELECT lower(subject) FROM audit WHERE actor LIKE 'local:%' AND id IN
         (SELECT max(id) FROM audit WHERE action = 'granted' GROUP BY lower(subject)));`

/** Random passwords of users of a provider, which nobody knows, become none; the audit log shows who got another one. */
export const FORGET_PASSWORDS = `UPDATE account SET password = '' WHERE id IN (SELECT account FROM identity)
     AND lower(name) NOT IN (SELECT lower(subject) FROM audit WHERE action = 'password changed');`

/**
 * The schema, step by step: released steps are never changed, a change is a further step. Times are milliseconds since 1970.
 * Secrets are stored as SHA-256 hashes, passwords as scrypt hashes; secrets of one-time passwords are encrypted.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE user (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     name TEXT NOT NULL,
     folded TEXT NOT NULL UNIQUE,
     password TEXT NOT NULL,
     quota INTEGER,
     created INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE user_grant (
     user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     dataset TEXT NOT NULL,
     PRIMARY KEY (user, dataset)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE api_key (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     hash BLOB NOT NULL UNIQUE,
     hint TEXT NOT NULL,
     label TEXT NOT NULL,
     created INTEGER NOT NULL,
     used INTEGER
   ) STRICT;
   CREATE INDEX api_key_user ON api_key (user);`,

  `CREATE TABLE session (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     hash BLOB NOT NULL UNIQUE,
     created INTEGER NOT NULL,
     used INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX session_user ON session (user, created);
   CREATE INDEX session_used ON session (used);`,

  `CREATE TABLE client (
     id TEXT PRIMARY KEY,
     owner INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     name TEXT NOT NULL,
     type TEXT NOT NULL CHECK (type IN ('confidential', 'public')),
     secret BLOB NOT NULL,
     redirect_uris TEXT NOT NULL,
     created INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX client_owner ON client (owner);
   CREATE TABLE consent (
     user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     client TEXT NOT NULL REFERENCES client ON DELETE CASCADE,
     scope TEXT NOT NULL,
     granted INTEGER NOT NULL,
     PRIMARY KEY (user, client)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX consent_client ON consent (client);
   CREATE TABLE family (
     id TEXT PRIMARY KEY,
     user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     client TEXT NOT NULL REFERENCES client ON DELETE CASCADE,
     scope TEXT NOT NULL,
     created INTEGER NOT NULL,
     revoked INTEGER
   ) STRICT;
   CREATE INDEX family_user ON family (user, client, created);
   CREATE INDEX family_client ON family (client);
   CREATE INDEX family_created ON family (created);
   CREATE TABLE code (
     hash BLOB PRIMARY KEY,
     family TEXT NOT NULL REFERENCES family ON DELETE CASCADE,
     redirect_uri TEXT NOT NULL,
     challenge TEXT,
     method TEXT,
     expires INTEGER NOT NULL,
     spent INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX code_family ON code (family);
   CREATE INDEX code_expires ON code (expires);
   CREATE TABLE access_token (
     hash BLOB PRIMARY KEY,
     family TEXT NOT NULL REFERENCES family ON DELETE CASCADE,
     expires INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX access_token_family ON access_token (family);
   CREATE INDEX access_token_expires ON access_token (expires);
   CREATE TABLE refresh_token (
     hash BLOB PRIMARY KEY,
     family TEXT NOT NULL REFERENCES family ON DELETE CASCADE,
     spent INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX refresh_token_family ON refresh_token (family);
   CREATE INDEX refresh_token_spent ON refresh_token (spent) WHERE spent IS NOT NULL;`,

  `CREATE TABLE call_count (
     day TEXT NOT NULL,
     subject TEXT NOT NULL,
     calls INTEGER NOT NULL,
     PRIMARY KEY (day, subject)
   ) STRICT, WITHOUT ROWID;`,

  `CREATE TABLE audit (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     moment INTEGER NOT NULL,
     actor TEXT NOT NULL,
     action TEXT NOT NULL,
     subject TEXT NOT NULL,
     address TEXT NOT NULL
   ) STRICT;
   CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
   CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
   CREATE TABLE identity (
     issuer TEXT NOT NULL,
     subject TEXT NOT NULL,
     user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     PRIMARY KEY (issuer, subject)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX identity_user ON identity (user);`,

  `CREATE TABLE second_factor (
     user INTEGER PRIMARY KEY REFERENCES user ON DELETE CASCADE,
     secret BLOB NOT NULL,
     confirmed INTEGER,
     step INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE recovery_code (
     user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     hash BLOB NOT NULL,
     PRIMARY KEY (user, hash)
   ) STRICT, WITHOUT ROWID;`,

  `CREATE TABLE single_use (
     hash BLOB PRIMARY KEY,
     expires INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX single_use_expires ON single_use (expires);`,

  `CREATE TABLE passkey (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     user INTEGER NOT NULL REFERENCES user ON DELETE CASCADE,
     credential TEXT NOT NULL UNIQUE,
     public_key BLOB NOT NULL,
     counter INTEGER NOT NULL,
     transports TEXT NOT NULL,
     label TEXT NOT NULL,
     created INTEGER NOT NULL,
     used INTEGER
   ) STRICT;
   CREATE INDEX passkey_user ON passkey (user);`,

  // `user` is a keyword of PostgreSQL, whose tables have the same names.
  `ALTER TABLE user RENAME TO account;
   ALTER TABLE user_grant RENAME COLUMN user TO account;
   ALTER TABLE api_key RENAME COLUMN user TO account;
   ALTER TABLE session RENAME COLUMN user TO account;
   ALTER TABLE consent RENAME COLUMN user TO account;
   ALTER TABLE family RENAME COLUMN user TO account;
   ALTER TABLE identity RENAME COLUMN user TO account;
   ALTER TABLE second_factor RENAME COLUMN user TO account;
   ALTER TABLE recovery_code RENAME COLUMN user TO account;
   ALTER TABLE passkey RENAME COLUMN user TO account;`,

  // The provider whose groups give a grant; null if it was given by hand. `lodestone user` noted earlier ones in the audit log.
  `ALTER TABLE user_grant ADD COLUMN issuer TEXT;
   ${ATTRIBUTE_GRANTS}`,

  // The password of users who sign in at a provider alone is empty.
  FORGET_PASSWORDS,
]
