/** What ends with a server, in this order. */
export interface Lifetime {
  /** Ends what only waits. Called again until nothing runs. */
  drain?(): void
  /** Before calls are cancelled: what another process goes on with is given to it. */
  handOver?(): void
  /** Calls are cancelled: answer them. Resolves when it is written; never rejects. */
  cancel?(): void | Promise<void>
  /** All is answered: send what goes out by itself. Resolves at the latest after so many milliseconds. */
  flush?(withinMs: number): Promise<void>
  /** Whatever is left goes: nothing is sent any more. */
  release?(): void | Promise<void>
}
