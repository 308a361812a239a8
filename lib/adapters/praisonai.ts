/** Runs agents of PraisonAI: one text in, one text out. They print what they say to standard output. */
import { asOneText } from './shared/message.ts'
import type { Adapter } from '../kernel/define/adapters.ts'

interface Theirs { chat(prompt: string): Promise<unknown> }

export const praisonAi: Adapter = {
  async* run(agent, prompt, call) {
    yield String(await (agent as Theirs).chat(asOneText(prompt, call)))
  },
}
