/**
 * node:http for those peers that come without a server.
 */
import { createServer } from 'node:http'

/** Listens on a free port of this machine; resolves to it. */
export function listen(handler) {
  return new Promise((resolve) => {
    const server = createServer({ keepAliveTimeout: 65_000 }, handler)
    server.listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
}

/** A port that nobody listens on, for those that want to be told one. */
export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
