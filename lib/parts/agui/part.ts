/** AG-UI: agents for user interfaces. */
import { aguiEndpoints } from './routes.ts'
import type { Part } from '../../kernel/server/part.ts'

export function agui(): Part {
  return {
    name: 'agui', protocol: 'http',
    open: (kernel) => ({ endpoints: aguiEndpoints(kernel, kernel.seal) }),
  }
}
