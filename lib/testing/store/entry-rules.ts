/** What the interface promises of entries: their keys and values, versions, times and lists. */
import { MAX_KEY_BYTES } from '../../kernel/store/store.ts'
import { expect, faultOf, keysOf, LONG_MS, same, SHORT_MS } from './trial.ts'
import type { StoreKey } from '../../kernel/store/store.ts'
import type { StoreRules, Trial } from './trial.ts'

/** What hand-made separators, patterns, collations and objects stumble over. */
const oddTexts: readonly string[] = [
  'a', 'A', 'a ', ' a', '0', '00', 'é', 'e\u0301', 'ß', 'ss', '日本語', '🙂', '\u2028', '\u00a0', '{', '}',
  '{a}', ':', '/', '|', '*', '?', '[a]', '%', '_', '\'', '"', '\\', '\n', '\t', '\0', 'a\0', 'a\0b', '#',
  '~', '~a', '__proto__', 'constructor', 'toString',
]
const separators: readonly string[] = [
  ':', '/', '|', '.', '-', '_', '~', ',', ' ', '\n', '\0', '\x1f', '}', '"',
]

/** Keys that are alike: written one after the other, or folded, or cut short, some of them are the same. */
function alikes(trial: Trial): readonly StoreKey[] {
  const { name } = trial
  const long = 'x'.repeat(MAX_KEY_BYTES - 1)
  const wide = 'é'.repeat(MAX_KEY_BYTES / 2 - 1)
  return [
    ...oddTexts.flatMap((text) => [trial.id(text), trial.id('key', name + text)]),
    ...separators.flatMap((mark) => [
      trial.id(`b${mark}c`, `${name}${mark}a`),
      trial.id('c', `${name}${mark}a${mark}b`),
      trial.id(`a${mark}b${mark}c`),
    ]),
    trial.id('z', `${name}}check:k`), trial.id('k}check:z'),
    trial.id('key', name, 'check/a'), trial.id('key', `a/${name}`), trial.id(`a/${name}`),
    // As long as the interface lets them be.
    ...['x', 'y'].map((end) => trial.id('key', name, 'x'.repeat(63) + end)),
    ...['x', 'y'].flatMap((end) => {
      return [trial.id(long + end), trial.id('key', name + (long + end).slice(name.length))]
    }),
    ...['é', 'è'].map((end) => trial.id(wide + end)),
  ]
}

const WRITERS = 64

export const entryRules: StoreRules = {
  'a value is read as it was written, whatever is in it': async (trial) => {
    const values = [
      '', '1', 'null', '{"a":[1,2]}', ' a ', 'a\r\nb\t', '\u0001\u2028\ufeff', '日本語 🙂 é', '\\"\'',
      '$1 %s ?', 'x'.repeat(1024 * 1024), 'é🙂'.repeat(50_000),
    ]
    for (const [at, value] of values.entries()) {
      if (Buffer.byteLength(value) > trial.maxValueBytes) continue
      const key = `${at}`
      const version = await trial.put(trial.id(key), value)
      const found = await trial.other.read(trial.id(key))
      same('What was read', [found?.key, found?.value, found?.version], [key, value, version])
    }
    same('What was never written', await trial.valueAt(trial.id('never')), undefined)
  },
  'entries meet only where collection, owner and key are the same': async (trial) => {
    const ids = alikes(trial)
    for (const id of ids) await trial.put(id, JSON.stringify(id))
    for (const id of ids) {
      same('What was read', await trial.valueAt(id), JSON.stringify(id))
      const keys = await keysOf(trial.other.list(id.collection, id.owner, ids.length))
      const own = ids.filter(({ collection, owner }) =>
        collection === id.collection && owner === id.owner)
      same(`The list of ${JSON.stringify(id.owner)}`, keys, own.map(({ key }) => key).reverse())
    }
    for (const [at, id] of ids.entries()) {
      if (at % 2 === 0) same('Whether it was removed', await trial.one.remove(id, 'any'), true)
    }
    for (const [at, id] of ids.entries()) {
      same('What is left', await trial.valueAt(id), at % 2 === 0 ? undefined : JSON.stringify(id))
    }
  },
  'a value of the largest size is kept, and a larger one refused as too large': async (trial) => {
    const { one, maxValueBytes } = trial
    const id = trial.id('key')
    const largest = 'é'.repeat(Math.floor(maxValueBytes / 2)) + 'x'.repeat(maxValueBytes % 2)
    await trial.put(id, largest)
    const isWhole = await trial.valueAt(id) === largest
    expect(isWhole, `A value of ${maxValueBytes} bytes was not read as it was written`)
    const larger = `${largest}x`
    same('Writing a larger one', await faultOf(() => one.write(id, larger, LONG_MS, 'any')), 'too-large')
    expect(await trial.valueAt(id) === largest, 'A value that was refused has changed what was kept')
    await one.remove(id, 'any')
  },
  [`an owner and a key have at most ${MAX_KEY_BYTES} bytes, else they are refused as too large`]:
    async (trial) => {
    for (const long of ['x'.repeat(MAX_KEY_BYTES + 1), 'é'.repeat(MAX_KEY_BYTES / 2 + 1)]) {
      for (const id of [trial.id(long), trial.id('key', trial.name + long)]) {
        const fault = await faultOf(() => trial.one.write(id, 'x', LONG_MS, 'any'))
        same('Writing under a longer owner or key', fault, 'too-large')
      }
    }
    for (const fit of ['x'.repeat(MAX_KEY_BYTES), 'é'.repeat(MAX_KEY_BYTES / 2)]) {
      await trial.put(trial.id(fit), 'x')
      same('What was read', await trial.valueAt(trial.id(fit)), 'x')
    }
  },
  'version 0 writes only where there is none': async (trial) => {
    const id = trial.id('key')
    await trial.put(id, 'first')
    const second = await trial.other.write(id, 'second', LONG_MS, 0)
    same('A second write that expected none', second, undefined)
    same('What was read', await trial.valueAt(id), 'first')
    await trial.one.remove(id, 'any')
    await trial.put(id, 'third')
    same('What was read', await trial.valueAt(id), 'third')
  },
  '\'any\' writes over whatever there is': async (trial) => {
    const id = trial.id('key')
    for (const value of ['first', 'second', 'third']) {
      await trial.put(id, value, 'any')
      same('What was read', await trial.valueAt(id), value)
    }
  },
  'an exact version writes only over itself, and a conflict changes nothing': async (trial) => {
    const id = trial.id('key')
    const absent = await trial.one.write(id, 'x', LONG_MS, 7)
    same('A write that expected a version where there is none', absent, undefined)
    const first = await trial.put(id, 'first')
    const second = await trial.put(id, 'second', first)
    for (const wrong of [first, second + 1, second + 1_000_000]) {
      const written = await trial.other.write(id, 'x', 1, wrong)
      same('A write that expected another version', written, undefined)
    }
    const { value, version } = await trial.other.read(id) ?? {}
    same('What was read', [value, version], ['second', second])
    const listed = await trial.other.list('check', trial.name, 9)
    same('The list', listed.map((entry) => entry.version), [second])
  },
  'versions rise from write to write of an owner': async (trial) => {
    let last = 0
    for (let at = 0; at < 60; at++) {
      const version = await trial.put(trial.id(`${at % 3}`), 'x', 'any')
      expect(version > last, `Version ${version} follows ${last}`)
      last = version
    }
  },
  'a version does not come back after a removal': async (trial) => {
    const id = trial.id('key')
    let last = 0
    for (let at = 0; at < 5; at++) {
      const version = await trial.put(id, `${at}`)
      expect(version > last, `Version ${version} follows ${last}, which was removed`)
      last = version
      await trial.one.remove(id, version)
      const late = await trial.other.write(id, 'late', LONG_MS, version)
      same('A write that expected what was removed', late, undefined)
    }
  },
  'of many that write over one version, one does': async (trial) => {
    const { one, other } = trial
    const writers = Array.from({ length: WRITERS }, (_, at) => ({ at, store: at % 2 === 0 ? one : other }))
    const begun = trial.id('begun')
    const versions = await Promise.all(
      writers.map(async ({ at, store }) => await store.write(begun, `${at}`, LONG_MS, 0)))
    same('How many began it', versions.filter((version) => version !== undefined).length, 1)
    const winner = versions.findIndex((version) => version !== undefined)
    same('What was read', await trial.valueAt(begun), `${winner}`)

    const sum = trial.id('sum')
    await trial.put(sum, '0')
    await Promise.all(writers.map(async ({ store }) => {
      for (let attempt = 0; attempt < WRITERS * 4; attempt++) {
        const { value = '', version = 0 } = await store.read(sum) ?? {}
        if (await store.write(sum, `${Number(value) + 1}`, LONG_MS, version) !== undefined) return
      }
      throw new Error('One of the writers never had its turn')
    }))
    same('The sum of what all added', await trial.valueAt(sum), `${WRITERS}`)
  },
  'only the expected version is removed, once': async (trial) => {
    const { one, other } = trial
    const id = trial.id('key')
    same('Removing what there is not', await one.remove(id, 'any'), false)
    const first = await trial.put(id, 'first')
    const second = await trial.put(id, 'second', first)
    same('Removing an older version', await other.remove(id, first), false)
    same('Removing version 0', await other.remove(id, 0), false)
    same('What was read', await trial.valueAt(id), 'second')
    const removals = [other.remove(id, second), one.remove(id, second), other.remove(id, 'any')]
    same('How often it was removed', (await Promise.all(removals)).filter(Boolean).length, 1)
    same('What was removed', await trial.valueAt(id), undefined)
  },
  'an entry is gone when its time is over, and not before': async (trial) => {
    const id = trial.id('key')
    const since = performance.now()
    await trial.put(id, 'x', 0, SHORT_MS * 2)
    await trial.untilGone(id)
    const lived = performance.now() - since
    expect(lived >= SHORT_MS * 2 - 5, `Kept for ${SHORT_MS * 2} ms, it was gone after ${Math.round(lived)}`)
    await trial.put(id, 'always', 0, Infinity)
    const always = await trial.valueAt(id)
    await trial.one.remove(id, 'any')
    same('What is kept for ever', always, 'always')
  },
  'a write begins the time anew': async (trial) => {
    const longer = trial.id('longer')
    const shorter = trial.id('shorter')
    await trial.put(longer, 'x', 0, SHORT_MS)
    await trial.put(longer, 'x', 'any')
    await trial.put(shorter, 'x')
    await trial.put(shorter, 'x', 'any', SHORT_MS)
    await trial.untilGone(shorter)
    same('What was written with more time', await trial.valueAt(longer), 'x')
  },
  'a version does not come back after expiry': async (trial) => {
    const id = trial.id('key')
    const first = await trial.put(id, 'first', 0, SHORT_MS)
    await trial.untilGone(id)
    same('A write that expected what expired', await trial.one.write(id, 'x', LONG_MS, first), undefined)
    const second = await trial.put(id, 'second')
    expect(second > first, `Version ${second} follows ${first}, which expired`)
    same('What was read', await trial.valueAt(id), 'second')
  },
  'a list has an owner\'s entries of one collection, the last written first': async (trial) => {
    const { other, name } = trial
    same('The list of nothing', await other.list('check', name, 9), [])
    const versions = new Map<string, number>()
    for (const key of ['a', 'b', 'c', 'a']) {
      versions.set(key, await trial.put(trial.id(key), key, 'any'))
    }
    await trial.put(trial.id('d', name, 'check2'), 'd')
    await trial.put(trial.id('e', `${name}2`), 'e')
    const all = ['a', 'c', 'b'].map((key) => [key, key, versions.get(key)])
    const listed = async (limit: number, before?: number): Promise<unknown> => {
      const entries = await other.list('check', name, limit, before)
      return entries.map(({ key, value, version }) => [key, value, version])
    }
    same('The list', await listed(9), all)
    same('The first two', await listed(2), all.slice(0, 2))
    same('What was written before the second', await listed(9, versions.get('c')), all.slice(2))
    same('One from before the first', await listed(1, versions.get('a')), all.slice(1, 2))
    same('What was written before the last', await listed(9, versions.get('b')), [])
  },
  'a list leaves out what was removed or has expired': async (trial) => {
    for (const key of ['a', 'b', 'c', 'd']) {
      await trial.put(trial.id(key), key, 0, key === 'b' ? SHORT_MS : LONG_MS)
    }
    await trial.one.remove(trial.id('c'), 'any')
    await trial.until('an entry to leave the list', async () =>
      (await trial.other.list('check', trial.name, 9)).length === 2)
    same('The list', await keysOf(trial.other.list('check', trial.name, 9)), ['d', 'a'])
    same('The last one', await keysOf(trial.other.list('check', trial.name, 1)), ['d'])
  },
  'pages of a list show each entry once while others write': async (trial) => {
    const count = 40
    for (let at = 0; at < count; at++) await trial.put(trial.id(`${at}`), 'x')
    const seen: string[] = []
    const rewritten = new Set<string>()
    let before: number | undefined
    for (let page = 0; ; page++) {
      const entries = await trial.other.list('check', trial.name, 7, before)
      expect(entries.length <= 7, `A page of 7 has ${entries.length} entries`)
      for (const { key, version } of entries) {
        expect(before === undefined || version < before, `Version ${version} follows ${before} in a list`)
        before = version
        seen.push(key)
      }
      if (entries.length === 0) break
      // One that comes later, one that was there, and a new one.
      for (const key of [`${page}`, `${count - 1 - page}`, `new-${page}`]) {
        rewritten.add(key)
        await trial.put(trial.id(key), 'y', 'any')
      }
    }
    same('How many were shown twice', seen.length - new Set(seen).size, 0)
    const missed = Array.from({ length: count }, (_, at) => `${at}`)
      .filter((key) => !rewritten.has(key) && !seen.includes(key))
    same('What was never shown', missed, [])
  },
}
