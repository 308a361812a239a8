/** Where responses are kept that clients come back to, and what an editor lists of its sessions. */
import { memoryStore } from '../../kernel/store/memory.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Store } from '../../kernel/store/store.ts'

function makeStore({ limits, store }: Service): Store {
  const { maxConversations, maxConversationsBytes } = limits
  return store.isShared ? store
    : memoryStore({ maxEntries: maxConversations, maxBytes: maxConversationsBytes })
}

/** That of a server: the one that processes share, else one of its own. */
export function keptStoreOf(service: Service): Store {
  return service.use(makeStore)
}
