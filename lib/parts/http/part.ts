/** Plain HTTP: queries, tools, resources, prompts, skills and conversations by their paths. */
import { pathOf } from '../../kernel/define/validate.ts'
import { catalogEndpoints } from './catalog.ts'
import { conversationEndpoints, queryEndpoints } from './routes.ts'
import { skillEndpoints } from './skills.ts'
import type { Part } from '../../kernel/server/part.ts'

/** `path` is a further one for queries. */
export function http({ path }: { readonly path?: string | undefined } = {}): Part {
  return {
    name: 'http',
    protocol: 'http',
    open: (kernel) => ({
      endpoints: [
        ...queryEndpoints(kernel, pathOf('path', path)), ...catalogEndpoints(kernel),
        ...skillEndpoints(kernel), ...conversationEndpoints(kernel, kernel.credentials.isNeeded),
      ],
    }),
  }
}
