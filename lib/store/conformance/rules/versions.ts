/**
 * What the interface promises of versions: who may write and remove, and who was first.
 */
import { expect, LONG_MS, same } from './rule.ts'
import type { StoreRule } from './rule.ts'

/** So many write at one time. */
const WRITERS = 64

/** The rules of versions. */
export const versionRules: readonly StoreRule[] = [
  {
    rule: 'version 0 writes only where there is none',
    async check(trial) {
      const place = trial.place('key')
      await trial.put(place, 'first')
      const second = await trial.other.write(place, 'second', LONG_MS, 0)
      same('A second write that expected none', second, undefined)
      same('What was read', await trial.valueAt(place), 'first')
      await trial.one.remove(place, 'any')
      await trial.put(place, 'third')
      same('What was read', await trial.valueAt(place), 'third')
    },
  },
  {
    rule: '\'any\' writes over whatever there is',
    async check(trial) {
      const place = trial.place('key')
      for (const value of ['first', 'second', 'third']) {
        await trial.put(place, value, 'any')
        same('What was read', await trial.valueAt(place), value)
      }
    },
  },
  {
    rule: 'an exact version writes only over itself, and a conflict changes nothing',
    async check(trial) {
      const place = trial.place('key')
      const absent = await trial.one.write(place, 'x', LONG_MS, 7)
      same('A write that expected a version where there is none', absent, undefined)
      const first = await trial.put(place, 'first')
      const second = await trial.put(place, 'second', first)
      for (const wrong of [first, second + 1, second + 1_000_000]) {
        const written = await trial.other.write(place, 'x', 1, wrong)
        same('A write that expected another version', written, undefined)
      }
      const { value, version } = await trial.other.read(place) ?? {}
      same('What was read', [value, version], ['second', second])
      const listed = await trial.other.list('check', trial.name, 9)
      same('The list', listed.map((entry) => entry.version), [second])
    },
  },
  {
    rule: 'versions rise from write to write of an owner',
    async check(trial) {
      let last = 0
      for (let at = 0; at < 60; at++) {
        const version = await trial.put(trial.place(`${at % 3}`), 'x', 'any')
        expect(version > last, `Version ${version} follows ${last}`)
        last = version
      }
    },
  },
  {
    rule: 'a version does not come back after a removal',
    async check(trial) {
      const place = trial.place('key')
      let last = 0
      for (let at = 0; at < 5; at++) {
        const version = await trial.put(place, `${at}`)
        expect(version > last, `Version ${version} follows ${last}, which was removed`)
        last = version
        await trial.one.remove(place, version)
        const late = await trial.other.write(place, 'late', LONG_MS, version)
        same('A write that expected what was removed', late, undefined)
      }
    },
  },
  {
    rule: 'of many that write over one version, one does',
    async check(trial) {
      const { one, other } = trial
      const writers = Array.from({ length: WRITERS }, (_, at) => ({ at, store: at % 2 === 0 ? one : other }))
      const begun = trial.place('begun')
      const versions = await Promise.all(
        writers.map(async ({ at, store }) => await store.write(begun, `${at}`, LONG_MS, 0)))
      same('How many began it', versions.filter((version) => version !== undefined).length, 1)
      const winner = versions.findIndex((version) => version !== undefined)
      same('What was read', await trial.valueAt(begun), `${winner}`)

      const sum = trial.place('sum')
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
  },
  {
    rule: 'only the expected version is removed, once',
    async check(trial) {
      const { one, other } = trial
      const place = trial.place('key')
      same('Removing what there is not', await one.remove(place, 'any'), false)
      const first = await trial.put(place, 'first')
      const second = await trial.put(place, 'second', first)
      same('Removing an older version', await other.remove(place, first), false)
      same('Removing version 0', await other.remove(place, 0), false)
      same('What was read', await trial.valueAt(place), 'second')
      const removals = [other.remove(place, second), one.remove(place, second), other.remove(place, 'any')]
      same('How often it was removed', (await Promise.all(removals)).filter(Boolean).length, 1)
      same('What was removed', await trial.valueAt(place), undefined)
    },
  },
]
