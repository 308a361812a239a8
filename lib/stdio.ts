/**
 * `serveStdio`: the MCP door on standard input and output, for hosts that start a process.
 */
import { Writable } from 'node:stream'
import { sortOut } from './core/subject.ts'
import { requireSecondOptions } from './options.ts'
import { McpContext } from './mcp/context.ts'
import { serveLines } from './mcp/stdio.ts'
import { createService, serverOptions } from './server.ts'
import type { Readable } from 'node:stream'
import type { Members } from './core/define.ts'
import type { Offer, Subject } from './core/subject.ts'
import type { ServerOptions } from './server.ts'

/** What `serveStdio` takes besides what is served. */
export interface StdioOptions extends Omit<ServerOptions, keyof Offer | 'protocol'> {
  /** Left out: standard input. */
  readonly input?: Readable | undefined
  /** Left out: standard output, which then is the protocol's: what else is written goes to standard error. */
  readonly output?: Writable | undefined
}

const names: Members<Omit<StdioOptions, keyof ServerOptions>> = { input: true, output: true }

/** Serves one client until its input ends. Rejects with a sentence for a mistake in what it is given. */
export async function serveStdio(subject: Subject, options: StdioOptions = {}): Promise<void> {
  const known = [...Object.keys(names), ...serverOptions.filter((name) => name !== 'protocol')]
  requireSecondOptions('serveStdio', subject, options, known)
  const { input = process.stdin, output, ...rest } = options
  const { service, seal } = createService({ ...rest, ...sortOut(subject, options.name ?? 'triport') })
  await serveLines(new McpContext(service, options.mcp ?? {}, seal), input, output ?? claimStdout())
}

/** Standard output for the protocol alone: a handler's `console.log` would break the client's parser. */
function claimStdout(): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) { write(chunk, () => done()) },
  })
}
