/**
 * What is measured beside the cases, in processes of its own.
 */
import { cluster } from './figures/cluster.js'
import { firstAnswer } from './figures/first-answer.js'
import { idle } from './figures/idle.js'
import { latency } from './figures/latency.js'
import { memory } from './figures/memory.js'

/**
 * `measure` gets `{ start, caseOf, peersWith, effort }`: `start` makes a fresh server by its name, `caseOf`
 * is a case by its name, `peersWith` the peers that do it. It resolves to rows, `{ title, triport, bare, aim,
 * peers }`.
 */
export const figures = [latency, firstAnswer, idle, memory, cluster]
