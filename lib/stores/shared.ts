/**
 * Several processes on one store, for servers whose parts are named:
 *
 *     createServer({ agents: [bot], parts: [a2a()], store: redisStore(client), share: shareStore, secret })
 */
export { shareStore } from '../floors/sharing/share-store.ts'
