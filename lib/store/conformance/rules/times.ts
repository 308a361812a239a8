/**
 * What the interface promises of time: an entry is there as long as was said.
 */
import { expect, LONG_MS, same, SHORT_MS } from './rule.ts'
import type { StoreRule } from './rule.ts'

/** The rules of time. */
export const timeRules: readonly StoreRule[] = [
  {
    rule: 'an entry is gone when its time is over, and not before',
    async check(trial) {
      const place = trial.place('key')
      const since = performance.now()
      await trial.put(place, 'x', 0, SHORT_MS * 2)
      await trial.untilGone(place)
      const lived = performance.now() - since
      expect(lived >= SHORT_MS * 2 - 5, `Kept for ${SHORT_MS * 2} ms, it was gone after ${Math.round(lived)}`)
      await trial.put(place, 'always', 0, Infinity)
      const always = await trial.valueAt(place)
      await trial.one.remove(place, 'any')
      same('What is kept for ever', always, 'always')
    },
  },
  {
    rule: 'a write begins the time anew',
    async check(trial) {
      const longer = trial.place('longer')
      const shorter = trial.place('shorter')
      await trial.put(longer, 'x', 0, SHORT_MS)
      await trial.put(longer, 'x', 'any')
      await trial.put(shorter, 'x')
      await trial.put(shorter, 'x', 'any', SHORT_MS)
      await trial.untilGone(shorter)
      same('What was written with more time', await trial.valueAt(longer), 'x')
    },
  },
  {
    rule: 'a version does not come back after expiry',
    async check(trial) {
      const place = trial.place('key')
      const first = await trial.put(place, 'first', 0, SHORT_MS)
      await trial.untilGone(place)
      same('A write that expected what expired', await trial.one.write(place, 'x', LONG_MS, first), undefined)
      const second = await trial.put(place, 'second')
      expect(second > first, `Version ${second} follows ${first}, which expired`)
      same('What was read', await trial.valueAt(place), 'second')
    },
  },
]
