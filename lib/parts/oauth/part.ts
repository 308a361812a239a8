/** The authorization server of an `auth` that `oauthProxy` has made. */
import { oauthEndpoints } from './oauth-proxy.ts'
import type { Part } from '../../kernel/server/part.ts'

export function oauth(): Part {
  return {
    name: 'oauth',
    open: (kernel) => ({ endpoints: oauthEndpoints(kernel.credentials.auth, kernel, kernel.seal) }),
  }
}
