/**
 * What several starts of one command line have in common: one port, one secret, and one key where one has to
 * be made.
 */
import { randomBytes } from 'node:crypto'
import { createServer as createProbe } from 'node:net'
import { isLoopback } from '../http/access/guard.ts'
import type { LaunchOptions } from '../server/launch.ts'

/** What is added to a command line, and to the environment of its processes. */
export interface CommonStart {
  readonly port: readonly string[]
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Finds a port where any will do, makes a secret where none is given, and makes and tells a key where callers
 * need one and have none.
 */
export async function commonStart({ port, host, apiKey, insecure }: LaunchOptions): Promise<CommonStart> {
  const fixed = port === 0 ? await freePort(host) : port
  // The sessions of one start are those of the next, and of the others.
  const secret = process.env['TRIPORT_SECRET'] || randomBytes(32).toString('base64url')
  const variables: Record<string, string> = { TRIPORT_SECRET: secret }
  if (apiKey === undefined && insecure !== true && host !== undefined && !isLoopback(host)) {
    // Each start would make another one, and callers would have to be told again.
    variables['TRIPORT_API_KEY'] = randomBytes(24).toString('base64url')
    const said = `--host ${host} can be reached from other machines, so a key is asked for`
    process.stderr.write(`triport: ${said}: ${variables['TRIPORT_API_KEY']}\n`)
  }
  return { port: fixed === undefined ? [] : [`--port=${fixed}`], variables }
}

function freePort(host: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createProbe().once('error', reject).listen(0, host ?? '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' ? address?.port ?? 0 : 0))
    })
  })
}
