// The PostgreSQL server of the tests: `.ci/run` starts one and says where it is. Without one, its tests are skipped.
import { Client } from 'pg'
import { beforeAll } from 'vitest'

/** The address of a server on which these tests may make and drop databases. */
const server = process.env['LOCKSTEP_POSTGRES_URL']

if (server === undefined) {
  if (process.env['LOCKSTEP_POSTGRES'] === 'required')
    throw new Error('LOCKSTEP_POSTGRES is "required", and LOCKSTEP_POSTGRES_URL does not say where a server is.')
  process.stderr.write(
    'The tests on PostgreSQL are skipped: LOCKSTEP_POSTGRES_URL is not set. `bash .ci/postgres start FOLDER` starts a server and prints it.\n',
  )
}

/** Whether there is a server; suites that need one are skipped without. */
export const hasServer = server !== undefined

let count = 0

/** An empty database for the suite that asks for it, dropped when the suite is done. */
export function ownDatabase(): { readonly address: () => string } {
  const name = `lockstep_test_${process.pid}_${Date.now()}_${count++}`
  beforeAll(async () => {
    await onServer(`CREATE DATABASE ${name}`)
    return () => onServer(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  return { address: () => databaseAt(name) }
}

/** The address of a database on the server, for other users too. */
export function databaseAt(
  name: string,
  changes: { readonly username?: string; readonly password?: string } = {},
): string {
  return Object.assign(new URL(server!), { pathname: `/${name}`, ...changes }).href
}

/** Runs one statement, in a database of its own connection. */
export async function onServer(statement: string, address = server!): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: address })
  await client.connect()
  try {
    return (await client.query(statement)).rows as unknown[]
  } finally {
    await client.end()
  }
}
