/** The store of a server: the one that it was given, else one in the memory of this process. */
import { memoryStore } from './memory-store.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Store } from '../../kernel/store/store.ts'

function makeMemory(): Store {
  return memoryStore()
}

export function storeOf(service: Service): Store {
  return service.store ?? service.use(makeMemory)
}
