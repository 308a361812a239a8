import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'node:test'
import { checkStore, Fault, memoryStore, sqliteStore } from '../../../lib/index.ts'
import { SqliteDatabase } from '../../../lib/stores/sqlite/sqlite.ts'
import type { TestContext } from 'node:test'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const hasSqlite = major > 22 || (major === 22 && minor >= 13)
const skip = !hasSqlite && `Node ${process.versions.node} has no SQLite; 22.13 is the first that has`
if (skip) console.log(`sqlite: skipped in part: ${skip}`)

/** A folder that is gone after the test. */
function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'triport-sqlite-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const place = { collection: 'things', owner: 'me', key: 'a' }
const keep = { events: 9, ms: 60_000 }

test('where Node has no SQLite it is said which has', { skip: hasSqlite && 'this Node has it' }, (t) => {
  assert.throws(() => sqliteStore(join(folder(t), 'a.db')), {
    name: 'Error',
    message: `sqliteStore needs Node 22.13 or later, which has SQLite; this is ${process.version}`,
  })
})

test('what is no file is refused', () => {
  for (const file of [
    '', ':memory:', 'file:a?mode=memory', new URL('https://a.test/b'), 7 as unknown as string,
  ]) {
    assert.throws(() => sqliteStore(file), { name: 'TypeError', message: /takes the path of a file/ })
  }
  assert.throws(() => sqliteStore('a', { maxBytes: 1 } as object), /no option 'maxBytes'/)
  assert.throws(() => sqliteStore('a', { maxValueBytes: 0.5 }), { name: 'RangeError' })
})

test('a file keeps every rule of a store', { skip }, async (t) => {
  const file = join(folder(t), 'a.db')
  const { emitWarning } = process
  process.emitWarning = () => {}
  t.after(() => { process.emitWarning = emitWarning })
  const { passed, failed } = await checkStore(() => sqliteStore(file, { maxValueBytes: 100_000 }), {
    maxValueBytes: 100_000,
  })
  assert.deepEqual(failed, [])
  assert.ok(passed.length > 30)
})

test('what was kept is there when the file is opened again, and versions go on', { skip }, (t) => {
  const url = pathToFileURL(join(folder(t), 'a b.db'))
  const first = sqliteStore(url)
  const version = first.write(place, 'before', Infinity, 0)!
  first.publish('topic', 'said', keep)
  first.close()
  const second = sqliteStore(url)
  t.after(() => second.close())
  const heard: string[] = []
  second.follow('topic', 'kept', (text) => heard.push(text))
  assert.deepEqual([second.read(place)?.value, heard], ['before', ['said']])
  assert.equal(second.remove(place, version), true)
  assert.ok(second.write(place, 'after', 1_000, 0)! > version)
})

test('a file that is none of SQLite, and a folder that is not there, are named', { skip }, (t) => {
  const path = join(folder(t), 'a.txt')
  writeFileSync(path, 'no database, but long enough to be read as one'.repeat(100))
  const message = `The store ${path} cannot be opened: file is not a database`
  assert.throws(() => sqliteStore(path), { message })
  assert.throws(() => sqliteStore(join(path, 'b.db')), { message: /b\.db cannot be opened: / })
})

test('a new file and those beside it are for its owner alone, one that is there stays as it is', {
  skip: skip || (process.platform === 'win32' && 'this system has no modes'),
}, (t) => {
  const before = process.umask(0o022)
  t.after(() => process.umask(before))
  const path = join(folder(t), 'a.db')
  const modes = (): readonly string[] => (
    ['', '-wal', '-shm'].map((end) => (statSync(path + end).mode & 0o777).toString(8))
  )
  const write = (): void => {
    const store = sqliteStore(path)
    t.after(() => store.close())
    store.write(place, 'x', 1_000, 'any')
    assert.deepEqual(modes(), Array(3).fill(mode))
    store.close()
  }
  let mode = '600'
  write()
  chmodSync(path, 0o640)
  mode = '640'
  write()
})

test('after close every method is refused', { skip }, (t) => {
  const store = sqliteStore(join(folder(t), 'a.db'))
  store.close()
  store.close()
  const isClosed = (error: unknown): boolean => error instanceof Fault && error.kind === 'busy'
  assert.throws(() => store.read(place), isClosed)
  assert.throws(() => store.write(place, 'x', 1, 'any'), isClosed)
  assert.throws(() => store.publish('topic', 'x'), isClosed)
  assert.throws(() => store.follow('topic', 'kept', () => {}), isClosed)
})

test('a write that fails changes nothing and says that the store is busy', { skip }, (t) => {
  const file = join(folder(t), 'a.db')
  const store = sqliteStore(file)
  t.after(() => store.close())
  store.write(place, 'before', 60_000, 0)
  const other = new SqliteDatabase(file)
  t.after(() => other.close())
  other.transact(() => {
    assert.throws(() => store.write(place, 'x', 1, 'any'),
      (error) => error instanceof Fault && error.kind === 'busy' && String(error.cause).includes('locked'))
  })
  assert.equal(store.read(place)?.value, 'before')
  assert.notEqual(store.write(place, 'after', 60_000, 'any'), undefined)
})

test('one who was away for too long is told that something is gone', { skip }, (t) => {
  const file = join(folder(t), 'a.db')
  const [store, speaker] = [sqliteStore(file), sqliteStore(file)]
  t.after(() => [store, speaker].forEach((one) => one.close()))
  const heard: string[] = []
  store.follow('topic', 'now', (text) => heard.push(text), () => heard.push('lost'))
  const other = new SqliteDatabase(file)
  // Nothing is looked at while this function runs.
  for (const text of ['a', 'b', 'c']) speaker.publish('topic', text)
  other.prepare('DELETE FROM triport_events WHERE text = ?').run('b')
  other.close()
  store.publish('topic', 'd')
  assert.deepEqual(heard, ['a', 'lost', 'c', 'd'])
})

test('what has expired leaves the file at later writes', { skip }, async (t) => {
  const file = join(folder(t), 'a.db')
  const store = sqliteStore(file)
  t.after(() => store.close())
  for (let at = 0; at < 40; at++) store.write({ ...place, key: `${at}` }, 'x', 1, 0)
  await new Promise((resolve) => setTimeout(resolve, 5))
  for (let at = 0; at < 4; at++) store.write({ ...place, key: 'last' }, 'x', 60_000, 'any')
  const database = new SqliteDatabase(file)
  t.after(() => database.close())
  assert.equal(database.prepare('SELECT count(*) AS count FROM triport_entries').get()?.['count'], 1)
})

test('both answer at once, a file as memory does', { skip }, (t) => {
  const file = sqliteStore(join(folder(t), 'a.db'))
  t.after(() => file.close())
  for (const store of [memoryStore(), file]) {
    const heard: string[] = []
    const leave = store.follow('topic', 'now', (text) => {
      heard.push(text)
      if (text === 'a') store.publish('topic', 'b')
    })
    store.publish('topic', 'a')
    leave()
    store.publish('topic', 'c')
    assert.deepEqual(heard, ['a', 'b'])
  }
})
