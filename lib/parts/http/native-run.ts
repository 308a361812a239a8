/**
 * A run of plain HTTP. Its events end with `done`, which has the whole reply, or `error`. For a key it is the
 * whole reply that is kept, so that a request that is sent again may ask for the other form.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { isPromised } from '../../kernel/util/thenable.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { publicFailure, problemText } from '../../floors/reply/reply.ts'
import { RunReply } from '../../floors/reply/run-stream.ts'
import type { Dismissal, Sink } from '../../kernel/http/message/exchange.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

export abstract class NativeRun<R> extends RunReply<R> {
  #count = 0

  protected override kept(sink: Sink): Sink { return sink }

  protected done(reply: string): void {
    this.#end('done', reply, this.hold?.keep(reply))
  }

  protected override fail(error: unknown): void {
    const { requestId } = this.call
    const text = problemText(publicFailure(this.service, error, requestId), requestId)
    this.#end('error', text, this.hold?.release())
  }

  dismissal({ kind, message }: Dismissal): string {
    const { requestId } = this.call
    const failure = publicFailure(this.service, new Fault(kind, message), requestId)
    return formatEvent(problemText(failure, requestId), 'error', String(this.#count + 1))
  }

  protected send(event: string, data: string): boolean {
    return this.sink!.write(formatEvent(data, event, String(++this.#count)))
  }

  /** A client that asks again after the end gets that end, so the key is settled first. */
  #end(event: string, data: string, settled: MaybePromise<void>): void {
    const sendLast = (): void => {
      this.send(event, data)
      this.sink!.end()
    }
    if (isPromised(settled)) void settled.then(sendLast)
    else sendLast()
  }
}
