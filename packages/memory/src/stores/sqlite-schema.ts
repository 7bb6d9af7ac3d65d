// The tables in SQLite, as steps from one version to the next. A step that was released is never edited.

/** Each step is one version: the first makes version 1. */
export const sqliteMigrations: readonly string[] = [
  `
  CREATE TABLE lockstep_threads (
    id TEXT PRIMARY KEY,
    resource_id TEXT,
    title TEXT,
    metadata TEXT,
    revision INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX lockstep_threads_by_time ON lockstep_threads (updated_at, id);
  CREATE INDEX lockstep_threads_by_resource ON lockstep_threads (resource_id, updated_at, id);
  CREATE TABLE lockstep_messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX lockstep_messages_by_id ON lockstep_messages (thread_id, id);
  CREATE INDEX lockstep_messages_in_sequence ON lockstep_messages (thread_id, seq);
  CREATE TABLE lockstep_runs (
    id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX lockstep_runs_by_thread ON lockstep_runs (thread_id, created_at);
  `,
  `
  CREATE TABLE lockstep_documents (
    key TEXT PRIMARY KEY,
    thread_id TEXT,
    value TEXT NOT NULL,
    revision INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX lockstep_documents_by_thread ON lockstep_documents (thread_id);
  `,
]
