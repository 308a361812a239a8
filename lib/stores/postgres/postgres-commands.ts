/**
 * The methods of a store as statements on one PostgreSQL: what they are given, and what their rows mean.
 * Tables are made when they are first needed. What has expired is forgotten now and then, after a write.
 */
import { decodeNul, encodeNul, lazily, reach, stateOf } from '../engine.ts'
import { FollowedTopics } from '../remote/followed-topics.ts'
import type { Entry, StoreKey } from '../../kernel/store/store.ts'
import type { Page, ReadEvent } from '../remote/followed-topics.ts'
import type { Publication, RemoteCommands } from '../remote/remote.ts'

export type Parameter = string | number | null

export type Rows = readonly Readonly<Record<string, unknown>>[]

export interface PostgresConnection {
  /** Sends one statement, or several that are given nothing. */
  query(text: string, values?: readonly Parameter[]): Promise<Rows>
  /**
   * Listens to a channel on a connection of its own, which is opened again where it is lost; `onAgain` is
   * called then. Resolves when it listens, with the function that ends it.
   */
  listen(
    channel: string, receive: (text: string) => void, onAgain: () => void,
  ): Promise<() => Promise<void>>
}

/** A longer event is sent without its text: PostgreSQL takes 8,000 bytes in one notification. */
const NOTICE_BYTES = 7_000
/** How long a long event is there to be read if it is not kept. */
const LONG_MS = 60_000
/** How long the number of a topic is remembered of which nothing is kept. */
const REMEMBER = '1 hour'
/** One page of a topic, and what is forgotten at once. */
const PAGE_COUNT = 256
const PAGE_BYTES = 1024 * 1024
const SWEEP_COUNT = 1_000

type Statement =
  | 'find' | 'create' | 'read' | 'write' | 'writeNew' | 'writeNext' | 'remove' | 'list' | 'publish' | 'topic'
type Statements = Readonly<Record<Statement, string>> & { readonly sweep: readonly string[] }

const MICROSECONDS = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

/**
 * The statements for the tables of a prefix. All times are the server's.
 *
 * One row per topic numbers its events; its lock puts numbers, rows and notifications in one order. The
 * tables of topics are unlogged: a crash of the server empties them, and never the one of the entries.
 */
export function statements(prefix: string): Statements {
  const entries = `${prefix}_entries`
  const versions = `${prefix}_versions`
  const events = `${prefix}_events`
  const topics = `${prefix}_topics`
  const insert = `INSERT INTO ${entries} AS kept (collection, owner, key, value, version, expires_at)
    VALUES ($1, $2, $3, $4, nextval('${versions}'), ${until('$5::float8')})
    ON CONFLICT (collection, owner, key)
    DO UPDATE SET value = excluded.value, version = nextval('${versions}'), expires_at = excluded.expires_at`
  const isKey = 'collection = $1 AND owner = $2 AND key = $3'
  return {
    // Answers `id`, which is null where there are no tables.
    find: `SELECT to_regclass('${topics}')::oid::text AS id`,
    // Makes what is missing, one process after the other.
    create: `SELECT pg_advisory_xact_lock(hashtext('${prefix}'));
      CREATE TABLE IF NOT EXISTS ${entries} (
        collection text COLLATE "C", owner text COLLATE "C", key text COLLATE "C", value text NOT NULL,
        version bigint NOT NULL, expires_at timestamptz NOT NULL, PRIMARY KEY (collection, owner, key));
      CREATE INDEX IF NOT EXISTS ${entries}_by_version ON ${entries} (collection, owner, version);
      CREATE INDEX IF NOT EXISTS ${entries}_by_expiry ON ${entries} (expires_at)
        WHERE expires_at < 'infinity';
      DO $do$ BEGIN
        IF to_regclass('${versions}') IS NULL THEN
          EXECUTE 'CREATE SEQUENCE ${versions} START ' || ${MICROSECONDS};
        END IF;
      END $do$;
      CREATE UNLOGGED TABLE IF NOT EXISTS ${events} (
        topic text COLLATE "C", number bigint, previous bigint NOT NULL, is_kept boolean NOT NULL,
        expires_at timestamptz NOT NULL, text text NOT NULL, PRIMARY KEY (topic, number));
      CREATE INDEX IF NOT EXISTS ${events}_by_expiry ON ${events} (expires_at)
        WHERE expires_at < 'infinity';
      CREATE UNLOGGED TABLE IF NOT EXISTS ${topics} (
        topic text COLLATE "C" PRIMARY KEY, previous bigint NOT NULL, number bigint NOT NULL,
        dropped bigint NOT NULL, said_at timestamptz NOT NULL)`,
    // $1 collection, $2 owner, $3 key.
    read: `SELECT value, version FROM ${entries} WHERE ${isKey} AND ${isLive()}`,
    // $4 value, $5 milliseconds or null for ever; over whatever there is, where there is nothing, and where
    // there is version $6.
    write: `${insert} RETURNING version`,
    writeNew: `${insert} WHERE NOT ${isLive('kept')} RETURNING version`,
    writeNext: `UPDATE ${entries}
      SET value = $4, version = nextval('${versions}'), expires_at = ${until('$5::float8')}
      WHERE ${isKey} AND version = $6::bigint AND ${isLive()} RETURNING version`,
    // $4 the version that is there, or null for any.
    remove: `DELETE FROM ${entries}
      WHERE ${isKey} AND version = coalesce($4::bigint, version) AND ${isLive()} RETURNING version`,
    // $3 how many or null for all, $4 before which version or null.
    list: `SELECT key, value, version FROM ${entries}
      WHERE collection = $1 AND owner = $2 AND version < coalesce($4::bigint, 9223372036854775807)
        AND ${isLive()} ORDER BY version DESC LIMIT $3::bigint`,
    // $1 topic, $2 a JSON array of `{ text, isKept, events, ms }`, $3 channel.
    publish: `WITH batch AS MATERIALIZED (
        SELECT ordinality AS at, value ->> 'text' AS text, (value ->> 'isKept')::boolean AS is_kept,
          (value ->> 'events')::bigint AS events, (value ->> 'ms')::float8 AS ms
        FROM jsonb_array_elements($2::text::jsonb) WITH ORDINALITY
      ), sum AS MATERIALIZED (
        SELECT count(*) AS count, max(at - events) FILTER (WHERE is_kept) AS dropped,
          ${MICROSECONDS} AS now
        FROM batch
      ), topic AS (
        INSERT INTO ${topics} AS t (topic, previous, number, dropped, said_at)
        SELECT $1, 0, now + count, now + coalesce(dropped, 0), clock_timestamp() FROM sum
        ON CONFLICT (topic) DO UPDATE SET previous = t.number, number = t.number + (SELECT count FROM sum),
          dropped = greatest(t.dropped, t.number + (SELECT dropped FROM sum)), said_at = clock_timestamp()
        RETURNING previous, number - (SELECT count FROM sum) AS base, t.dropped
      ), numbered AS (
        SELECT batch.*, base + at AS number, CASE at WHEN 1 THEN previous ELSE base + at - 1 END AS previous,
          dropped
        FROM batch, topic
      ), kept AS (
        INSERT INTO ${events} (topic, number, previous, is_kept, expires_at, text)
        SELECT $1, number, previous, is_kept,
          CASE WHEN is_kept THEN ${until('ms')} ELSE ${until(`${LONG_MS}`)} END, text
        FROM numbered WHERE (is_kept AND number > dropped) OR octet_length(text) > ${NOTICE_BYTES}
      ), gone AS (
        DELETE FROM ${events} WHERE topic = $1 AND number <= (SELECT dropped FROM topic)
      )
      SELECT pg_notify($3, $1 || ' ' || previous || ' ' || number
        || CASE WHEN octet_length(text) > ${NOTICE_BYTES} THEN '' ELSE ' ' || text END) AS notified
      FROM (SELECT * FROM numbered ORDER BY number OFFSET 0) AS ordered`,
    // $1 topic, $2 after which number, $3 'late', 'missed' or 'nothing'. At least one row: `last`, and of
    // each event `number`, `previous`, `text` and `found`, how many there are before the page is cut.
    topic: `SELECT t.last, e.number, e.previous, e.text, e.found
      FROM (SELECT coalesce(max(number), 0) AS last, coalesce(max(dropped), 0) AS dropped
        FROM ${topics} WHERE topic = $1) AS t
      LEFT JOIN LATERAL (
        SELECT *, count(*) OVER () AS found, row_number() OVER (ORDER BY number) AS at,
          sum(octet_length(text)) OVER (ORDER BY number) - octet_length(text) AS bytes_before
        FROM (SELECT * FROM ${events} WHERE topic = $1 AND number > $2::bigint AND $3 <> 'nothing'
          AND ($3 = 'missed' OR (is_kept AND number > t.dropped AND ${isLive()}))
          ORDER BY number LIMIT ${PAGE_COUNT + 1}) AS limited
      ) AS e ON e.at <= ${PAGE_COUNT} AND e.bytes_before < ${PAGE_BYTES}
      ORDER BY e.number`,
    sweep: [
      sweep(entries, `expires_at < 'infinity' AND NOT ${isLive()}`),
      sweep(events, `expires_at < 'infinity' AND NOT ${isLive()}`),
      sweep(topics, `said_at < clock_timestamp() - interval '${REMEMBER}' AND NOT EXISTS (
        SELECT FROM ${events} WHERE ${events}.topic = ${topics}.topic)`),
    ],
  }
}

function isLive(table?: string): string {
  return `(${table === undefined ? '' : `${table}.`}expires_at > clock_timestamp())`
}

function until(ms: string): string {
  return `coalesce(clock_timestamp() + ${ms} * interval '1 millisecond', 'infinity'::timestamptz)`
}

/** Several processes may do so at once: what one has its hands on, the others leave out. */
function sweep(table: string, isOver: string): string {
  return `DELETE FROM ${table} WHERE ${isOver} AND ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE ${isOver} LIMIT ${SWEEP_COUNT} FOR UPDATE SKIP LOCKED))`
}

/** How often what has expired is forgotten, at most. */
const SWEEP_EVERY_MS = 60_000
/** Beyond it is for ever: PostgreSQL's dates end before JavaScript's numbers. */
const FOR_EVER_MS = 1e13
/** How often a statement is tried that met another one where both had to be alone. */
const ATTEMPTS = 8

/** One store in one PostgreSQL. */
export function postgresCommands(
  connection: PostgresConnection, listening: PostgresConnection, prefix: string,
): RemoteCommands {
  const sql = statements(prefix)
  /** Makes sure that there are tables. Two schemas of one database have two channels. */
  const channel = lazily(() => reach(prepare))
  const listen = lazily(async () => {
    const name = await channel()
    endListening = await reach(() => listening.listen(name, receive, () => followed.resume()))
  })
  const followed = new FollowedTopics({
    // One channel has all topics.
    async subscribe() {
      await listen()
      if (isClosed) await endListening?.()
    },
    unsubscribe() {},
    readPage,
  })
  let endListening: (() => Promise<void>) | undefined
  let sweptAt = performance.now()
  let sweeping: Promise<void> | undefined
  let isClosed = false
  return { followed, read, write, remove, list, publishBatch, close }

  async function read({ collection, owner, key }: StoreKey): Promise<Entry | undefined> {
    const [row] = await ask(sql.read, [collection, encodeNul(owner), encodeNul(key)])
    return row && { key, value: String(row['value']), version: Number(row['version']) }
  }

  async function write(
    { collection, owner, key }: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): Promise<number | undefined> {
    const values = [collection, encodeNul(owner), encodeNul(key), value, finite(keepMs)]
    const [row] = expected === 'any' ? await ask(sql.write, values)
      : expected === 0 ? await ask(sql.writeNew, values)
      : await ask(sql.writeNext, [...values, expected])
    sweepSometimes()
    return row && Number(row['version'])
  }

  async function remove({ collection, owner, key }: StoreKey, expected: number | 'any'): Promise<boolean> {
    const version = expected === 'any' ? null : expected
    const rows = await ask(sql.remove, [collection, encodeNul(owner), encodeNul(key), version])
    return rows.length > 0
  }

  async function list(
    collection: string, owner: string, limit: number, before: number = Infinity,
  ): Promise<readonly Entry[]> {
    const rows = await ask(sql.list, [
      collection, encodeNul(owner), limit === Infinity ? null : limit, before === Infinity ? null : before,
    ])
    return rows.map(({ key, value, version }) => (
      { key: decodeNul(String(key)), value: String(value), version: Number(version) }
    ))
  }

  async function publishBatch(topic: string, batch: readonly Publication[]): Promise<void> {
    const events = batch.map(({ text, keep }) => ({
      text, isKept: keep !== undefined,
      ...keep !== undefined && keep.events !== Infinity && { events: keep.events },
      ...keep !== undefined && { ms: finite(keep.ms) },
    }))
    await ask(sql.publish, [topic, JSON.stringify(events), await channel()])
    sweepSometimes()
  }

  async function close(): Promise<void> {
    isClosed = true
    followed.close()
    try {
      await endListening?.()
    } catch {
      // It does not listen any more.
    }
    await sweeping
  }

  function receive(message: string): void {
    const [, topic, previous, number, text] = /^(\S+) (\d+) (\d+)(?: ([^]*))?$/.exec(message) ?? []
    if (topic === undefined) return
    followed.receive(topic, { number: Number(number), previous: Number(previous), text })
  }

  async function readPage(topic: string, after: number, what: 'late' | 'missed' | 'nothing'): Promise<Page> {
    const rows = await ask(sql.topic, [topic, after, what])
    const events: ReadEvent[] = rows.filter(({ number }) => number !== null).map((row) => (
      { number: Number(row['number']), previous: Number(row['previous']), text: String(row['text']) }
    ))
    const isCut = events.length > 0 && events.length < Number(rows[0]?.['found'])
    return { last: Number(rows[0]?.['last']), events, next: isCut ? events.at(-1)?.number : undefined }
  }

  async function ask(text: string, values: readonly Parameter[]): Promise<Rows> {
    await channel()
    return await reach(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await connection.query(text, values)
        } catch (error) {
          if (attempt === ATTEMPTS || !isCollision(error)) throw error
        }
      }
    })
  }

  async function prepare(): Promise<string> {
    const find = async (): Promise<unknown> => (await connection.query(sql.find))[0]?.['id']
    let id = await find()
    if (typeof id !== 'string') {
      await connection.query(sql.create)
      id = await find()
    }
    if (typeof id !== 'string') throw new Error(`The tables ${prefix}_… are not where they were made`)
    return `${prefix}_${id}`
  }

  function sweepSometimes(): void {
    const now = performance.now()
    if (isClosed || now - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now
    sweeping = sweepOnce()
  }

  async function sweepOnce(): Promise<void> {
    try {
      for (const statement of sql.sweep) await connection.query(statement)
    } catch {
      // What is left is forgotten another time.
    }
  }
}

function finite(ms: number): number | null {
  return ms > FOR_EVER_MS ? null : ms
}

/** Whether a statement has failed, and changed nothing, only because others were at it too. */
function isCollision(error: unknown): boolean {
  const state = stateOf(error)
  return state === '40001' || state === '40P01'
}
