/**
 * What is measured beside the cases, in processes of its own.
 */
import { cluster } from './figures/cluster.js'
import { idle } from './figures/idle.js'
import { latency } from './figures/latency.js'
import { memory } from './figures/memory.js'

/**
 * `measure` gets `{ start, caseOf, effort }`: `start('triport' or 'bare')` is a fresh server, `caseOf` a case
 * by its name. It resolves to rows, `{ title, triport, bare, aim }`.
 */
export const figures = [latency, idle, memory, cluster]
