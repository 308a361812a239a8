/** What an adapter of a framework does. */
import type { Shown } from '../../kernel/define/adapters.ts'
import type { Call } from '../../kernel/define/call.ts'

/** What runs the agents of one framework. */
export interface Adapter {
  /** Yields what a user sees, as it comes. Throws what the agent throws. `agent` is of this framework. */
  run(agent: object, prompt: string, call: Call): AsyncIterable<Shown>
}
