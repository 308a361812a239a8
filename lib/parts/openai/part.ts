/** OpenAI's API: chat completions and Responses. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { chatEndpoints } from './chat-completions.ts'
import { responseEndpoints } from './responses/routes.ts'
import type { Part } from '../../kernel/server/part.ts'

/** It has no options. */
export function openai(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('openai', options, [])
  return {
    name: 'openai',
    copy: kernelCopy,
    protocol: 'http',
    open: (kernel) => ({
      endpoints: [...chatEndpoints(kernel), ...responseEndpoints(kernel, kernel.seal)],
      exposes: [...replayHeaders, 'x-should-retry'],
    }),
  }
}
