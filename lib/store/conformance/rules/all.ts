/**
 * All rules of a store, in the order in which they are tried, and what each is tried on.
 */
import { keyRules } from './keys.ts'
import { listRules } from './lists.ts'
import { timeRules } from './times.ts'
import { topicRules } from './topics.ts'
import { versionRules } from './versions.ts'
import type { StoreRule } from './rule.ts'

export { Trial } from './rule.ts'

export const rules: readonly StoreRule[] = [
  ...keyRules, ...versionRules, ...timeRules, ...listRules, ...topicRules,
]
