/** ACP, for editors: over standard input and output alone. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { agentsOf } from './agents.ts'
import type { Part } from '../../kernel/server/part.ts'

/** An editor stays open for days: its threads are not forgotten meanwhile. */
const IDLE_MS = 30 * 86_400_000

const NO_AGENTS = 'Over ACP agents are served, and there is none; add one, or serve the tools over MCP'

/** Conversations are kept for 30 days without use, where `conversationIdleMs` is left out. */
export function acp(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('acp', options, [], arguments)
  return {
    name: 'acp',
    copy: kernelCopy,
    optionNames: [],
    protocol: 'acp',
    lines: {
      defaults: { conversationIdleMs: IDLE_MS },
      open: (kernel) => agentsOf(kernel.catalog).length === 0 ? NO_AGENTS : {
        serve: async (...streams) => (await import('./acp-lines.ts')).serveAcp(kernel, ...streams),
      },
    },
  }
}
