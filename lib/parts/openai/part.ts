/** OpenAI's API: chat completions and Responses. */
import { chatEndpoints } from './chat-completions.ts'
import { responseEndpoints } from './responses/routes.ts'
import type { Part } from '../../kernel/server/part.ts'

export function openai(): Part {
  return {
    name: 'openai',
    protocol: 'http',
    open: (kernel) => ({ endpoints: [...chatEndpoints(kernel), ...responseEndpoints(kernel, kernel.seal)] }),
  }
}
