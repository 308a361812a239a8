/** Plain HTTP: queries, tools, resources, prompts, skills and conversations by their paths. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { pathOf } from '../../kernel/define/validate.ts'
import { catalogEndpoints } from './catalog.ts'
import { conversationEndpoints, queryEndpoints } from './routes.ts'
import { skillEndpoints } from './skills.ts'
import type { Part } from '../../kernel/server/part.ts'

const optionNames = ['path']

/** `path` is a further one for queries. Throws `TypeError` for what can be none. */
export function http(options: { readonly path?: string | undefined } = {}): Part {
  requirePartOptions('http', options, optionNames)
  const path = pathOf('path', options.path)
  return {
    name: 'http',
    copy: kernelCopy,
    optionNames,
    protocol: 'http',
    open: (kernel) => ({
      exposes: replayHeaders,
      endpoints: [
        ...queryEndpoints(kernel, path), ...catalogEndpoints(kernel), ...skillEndpoints(kernel),
        ...conversationEndpoints(kernel, kernel.credentials.isNeeded),
      ],
    }),
  }
}
