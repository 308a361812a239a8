/**
 * Standard output for a protocol alone: whatever an author's code, or a package of theirs, writes there goes
 * to standard error instead.
 */
import { Writable } from 'node:stream'

const STDOUT = 1
const STDERR = 2

/** How a stream writes what it is given; TypeScript has these as members of subclasses only. */
interface Sink {
  _write(chunk: Uint8Array | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void
  _writev: null
  _final(done: () => void): void
}

/**
 * The stream of the protocol, from now on the only one to standard output. Only a process that is started
 * with it as its own, or one that opens it by its path, can still write there.
 */
export function claimStdout(): Writable {
  const { stdout, stderr } = process
  const sink = stdout as unknown as Sink
  const write = sink._write.bind(stdout)
  // Below `write`, which a module may have kept.
  sink._write = (chunk, encoding, done) => { stderr.write(chunk, encoding, () => done()) }
  sink._writev = null
  sink._final = (done) => done()
  // A module that ends it has ended nothing of ours, and may write again.
  stdout.on('error', () => {})
  redirectDescriptor()
  return new Writable({ write })
}

const writers = [
  'write', 'writeSync', 'writev', 'writevSync', 'writeFile', 'writeFileSync', 'appendFile', 'appendFileSync',
] as const

type Writer = (target: unknown, ...rest: readonly unknown[]) => unknown

/** Loggers write to the descriptor without asking the stream. */
function redirectDescriptor(): void {
  const fs = process.getBuiltinModule('node:fs') as unknown as Record<typeof writers[number], Writer>
  for (const name of writers) {
    const write = fs[name]
    const redirected: Writer = (target, ...rest) => write(target === STDOUT ? STDERR : target, ...rest)
    // What Node keeps on the function, as for util.promisify, stays.
    fs[name] = Object.defineProperties(redirected, Object.getOwnPropertyDescriptors(write))
  }
  process.getBuiltinModule('node:module').syncBuiltinESMExports()
}
