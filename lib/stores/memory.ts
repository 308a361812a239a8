/**
 * The memory of this process as a store, of other sizes than a server makes by itself; and the store of a
 * server, for parts that keep something in it.
 */
export { memoryStore } from '../floors/memory/memory-store.ts'
export { storeOf } from '../floors/memory/store-of.ts'

export type { MemoryStore, MemoryStoreOptions } from '../floors/memory/memory-store.ts'
