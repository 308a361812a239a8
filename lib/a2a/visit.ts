/**
 * What is known of a request besides what it says, for whatever answers it. Types alone.
 */
import type { Agent, Group } from '../core/agent.ts'
import type { Service } from '../core/service.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Dialect } from './dialect.ts'
import type { A2aOptions } from './options.ts'

/** One request: who is asked, by whom, and in which dialect. */
export interface Visit {
  readonly service: Service
  readonly options: A2aOptions
  readonly who: Agent | Group
  readonly dialect: Dialect
  readonly exchange: Exchange
}
