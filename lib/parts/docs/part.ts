/** What every server shows of itself: its health, its pages, its description. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { serviceEndpoints } from './service-endpoints.ts'
import type { Part } from '../../kernel/server/part.ts'

/** It has no options. */
export function docs(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('docs', options, [], arguments)
  return {
    name: 'docs',
    copy: kernelCopy,
    open: (kernel) => ({ endpoints: serviceEndpoints(kernel) }),
  }
}
