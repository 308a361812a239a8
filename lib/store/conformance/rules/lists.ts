/**
 * What the interface promises of lists: order, pages, and what is not among them.
 */
import { expect, keysOf, LONG_MS, same, SHORT_MS } from './rule.ts'
import type { StoreRule } from './rule.ts'

/** The rules of lists. */
export const listRules: readonly StoreRule[] = [
  {
    rule: 'a list has an owner\'s entries of one collection, the last written first',
    async check(trial) {
      const { other, name } = trial
      same('The list of nothing', await other.list('check', name, 9), [])
      const versions = new Map<string, number>()
      for (const key of ['a', 'b', 'c', 'a']) {
        versions.set(key, await trial.put(trial.place(key), key, 'any'))
      }
      await trial.put(trial.place('d', name, 'check2'), 'd')
      await trial.put(trial.place('e', `${name}2`), 'e')
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
  },
  {
    rule: 'a list leaves out what was removed or has expired',
    async check(trial) {
      for (const key of ['a', 'b', 'c', 'd']) {
        await trial.put(trial.place(key), key, 0, key === 'b' ? SHORT_MS : LONG_MS)
      }
      await trial.one.remove(trial.place('c'), 'any')
      await trial.until('an entry to leave the list', async () =>
        (await trial.other.list('check', trial.name, 9)).length === 2)
      same('The list', await keysOf(trial.other.list('check', trial.name, 9)), ['d', 'a'])
      same('The last one', await keysOf(trial.other.list('check', trial.name, 1)), ['d'])
    },
  },
  {
    rule: 'pages of a list show each entry once while others write',
    async check(trial) {
      const count = 40
      for (let at = 0; at < count; at++) await trial.put(trial.place(`${at}`), 'x')
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
          await trial.put(trial.place(key), 'y', 'any')
        }
      }
      same('How many were shown twice', seen.length - new Set(seen).size, 0)
      const missed = Array.from({ length: count }, (_, at) => `${at}`)
        .filter((key) => !rewritten.has(key) && !seen.includes(key))
      same('What was never shown', missed, [])
    },
  },
]
