/** The authorization server of an `auth` that `oauthProxy` has made. */
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { oauthEndpoints } from './oauth-proxy.ts'
import type { Part } from '../../kernel/server/part.ts'

/** It has no options. */
export function oauth(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('oauth', options, [], arguments)
  return {
    name: 'oauth',
    copy: kernelCopy,
    open: (kernel) => ({ endpoints: oauthEndpoints(kernel) }),
  }
}
