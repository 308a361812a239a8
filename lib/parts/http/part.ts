/** Plain HTTP: queries, tools, resources, prompts, skills and conversations by their paths. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { replayHeaders } from '../../floors/reply/idempotent-reply.ts'
import { describeRoot } from '../../kernel/define/agent.ts'
import { pathOf } from '../../kernel/define/validate.ts'
import { catalogEndpoints } from './catalog.ts'
import { conversationEndpoints, queryEndpoints } from './routes.ts'
import { skillEndpoints } from './skills.ts'
import type { Catalog } from '../../kernel/define/catalog.ts'
import type { Curl, Part } from '../../kernel/server/part.ts'

const optionNames = ['path']

/** `path` is a further one for queries. Throws `TypeError` for what can be none. */
export function http(options: { readonly path?: string | undefined } = {}): Part {
  requirePartOptions('http', options, optionNames, arguments)
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
      announce: (url, curl) => announced(kernel.catalog, url, curl),
    }),
  }
}

function announced(
  { root, agents, groups, tools, prompts }: Catalog, url: string, curl: Curl,
): readonly string[] {
  if (root !== undefined) {
    const asks = describeRoot(root, agents.length + groups.length)
    return [`${url}/  ${asks}`, curl('/', { query: 'hello' })]
  }
  const path = tools.length > 0 ? '/tools' : prompts.length > 0 ? '/prompts' : '/resources'
  return [`${url}${path}`, curl(path)]
}
