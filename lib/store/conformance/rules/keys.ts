/**
 * What the interface promises of what is kept, and under which key: all of it, and only there.
 */
import { MAX_KEY_BYTES } from '../../../state/store.ts'
import { expect, faultOf, keysOf, LONG_MS, same } from './rule.ts'
import type { StoreKey } from '../../../state/store.ts'
import type { StoreRule, Trial } from './rule.ts'

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
    ...oddTexts.flatMap((text) => [trial.place(text), trial.place('key', name + text)]),
    ...separators.flatMap((mark) => [
      trial.place(`b${mark}c`, `${name}${mark}a`),
      trial.place('c', `${name}${mark}a${mark}b`),
      trial.place(`a${mark}b${mark}c`),
    ]),
    trial.place('z', `${name}}check:k`), trial.place('k}check:z'),
    trial.place('key', name, 'check/a'), trial.place('key', `a/${name}`), trial.place(`a/${name}`),
    // As long as the interface lets them be.
    ...['x', 'y'].map((end) => trial.place('key', name, 'x'.repeat(63) + end)),
    ...['x', 'y'].flatMap((end) => {
      return [trial.place(long + end), trial.place('key', name + (long + end).slice(name.length))]
    }),
    ...['é', 'è'].map((end) => trial.place(wide + end)),
  ]
}

/** The rules of keys and values. */
export const keyRules: readonly StoreRule[] = [
  {
    rule: 'a value is read as it was written, whatever is in it',
    async check(trial) {
      const values = [
        '', '1', 'null', '{"a":[1,2]}', ' a ', 'a\r\nb\t', '\u0001\u2028\ufeff', '日本語 🙂 é', '\\"\'',
        '$1 %s ?', 'x'.repeat(1024 * 1024), 'é🙂'.repeat(50_000),
      ]
      for (const [at, value] of values.entries()) {
        if (Buffer.byteLength(value) > trial.maxValueBytes) continue
        const key = `${at}`
        const version = await trial.put(trial.place(key), value)
        const found = await trial.other.read(trial.place(key))
        same('What was read', [found?.key, found?.value, found?.version], [key, value, version])
      }
      same('What was never written', await trial.valueAt(trial.place('never')), undefined)
    },
  },
  {
    rule: 'entries meet only where collection, owner and key are the same',
    async check(trial) {
      const places = alikes(trial)
      for (const place of places) await trial.put(place, JSON.stringify(place))
      for (const place of places) {
        same('What was read', await trial.valueAt(place), JSON.stringify(place))
        const keys = await keysOf(trial.other.list(place.collection, place.owner, places.length))
        const own = places.filter(({ collection, owner }) =>
          collection === place.collection && owner === place.owner)
        same(`The list of ${JSON.stringify(place.owner)}`, keys, own.map(({ key }) => key).reverse())
      }
      for (const [at, place] of places.entries()) {
        if (at % 2 === 0) same('Whether it was removed', await trial.one.remove(place, 'any'), true)
      }
      for (const [at, place] of places.entries()) {
        same('What is left', await trial.valueAt(place), at % 2 === 0 ? undefined : JSON.stringify(place))
      }
    },
  },
  {
    rule: 'a value of the largest size is kept, and a larger one refused as too large',
    async check(trial) {
      const { one, maxValueBytes } = trial
      const place = trial.place('key')
      const largest = 'é'.repeat(Math.floor(maxValueBytes / 2)) + 'x'.repeat(maxValueBytes % 2)
      await trial.put(place, largest)
      const isWhole = await trial.valueAt(place) === largest
      expect(isWhole, `A value of ${maxValueBytes} bytes was not read as it was written`)
      const larger = `${largest}x`
      same('Writing a larger one', await faultOf(() => one.write(place, larger, LONG_MS, 'any')), 'too-large')
      expect(await trial.valueAt(place) === largest, 'A value that was refused has changed what was kept')
      await one.remove(place, 'any')
    },
  },
  {
    rule: `an owner and a key have at most ${MAX_KEY_BYTES} bytes, else they are refused as too large`,
    async check(trial) {
      for (const long of ['x'.repeat(MAX_KEY_BYTES + 1), 'é'.repeat(MAX_KEY_BYTES / 2 + 1)]) {
        for (const place of [trial.place(long), trial.place('key', trial.name + long)]) {
          const fault = await faultOf(() => trial.one.write(place, 'x', LONG_MS, 'any'))
          same('Writing under a longer owner or key', fault, 'too-large')
        }
      }
      for (const fit of ['x'.repeat(MAX_KEY_BYTES), 'é'.repeat(MAX_KEY_BYTES / 2)]) {
        await trial.put(trial.place(fit), 'x')
        same('What was read', await trial.valueAt(trial.place(fit)), 'x')
      }
    },
  },
]
