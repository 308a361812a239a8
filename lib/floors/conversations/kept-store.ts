/** Where responses are kept that clients come back to, and what an editor lists of its sessions. */
import { memoryStore } from '../memory/memory-store.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Store } from '../../kernel/store/store.ts'

function makeStore({ limits, sharing }: Service): Store {
  const { maxConversations, maxConversationsBytes } = limits
  return sharing?.store
    ?? memoryStore({ maxEntries: maxConversations, maxBytes: maxConversationsBytes })
}

/** That of a server: the one that processes share, else one of its own. */
export function keptStoreOf(service: Service): Store {
  return service.use(makeStore)
}
