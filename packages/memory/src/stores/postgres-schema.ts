// The tables in PostgreSQL, as steps from one version to the next. A step that was released is never edited.

/** Each step is one version: the first makes version 1. */
export const postgresMigrations: readonly string[] = [
  // Rows are JSON as it was written: jsonb would order keys anew and refuse some characters that text may have.
  `
  CREATE TABLE lockstep_threads (
    id text COLLATE "C" PRIMARY KEY,
    resource_id text COLLATE "C",
    title text,
    metadata text,
    revision bigint NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL
  );
  CREATE INDEX lockstep_threads_by_time ON lockstep_threads (updated_at, id);
  CREATE INDEX lockstep_threads_by_resource ON lockstep_threads (resource_id, updated_at, id);
  CREATE TABLE lockstep_messages (
    thread_id text COLLATE "C" NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    id text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (thread_id, seq)
  );
  CREATE UNIQUE INDEX lockstep_messages_by_id ON lockstep_messages (thread_id, id);
  CREATE TABLE lockstep_runs (
    id text COLLATE "C" PRIMARY KEY,
    thread_id text COLLATE "C" NOT NULL,
    state text NOT NULL,
    created_at text COLLATE "C" NOT NULL
  );
  CREATE INDEX lockstep_runs_by_thread ON lockstep_runs (thread_id, created_at);
  `,
  `
  CREATE TABLE lockstep_documents (
    key text COLLATE "C" PRIMARY KEY,
    thread_id text COLLATE "C",
    value text NOT NULL,
    revision bigint NOT NULL
  );
  CREATE INDEX lockstep_documents_by_thread ON lockstep_documents (thread_id);
  `,
]
