/**
 * The events of a response in the background, or of one that has ended, from any place on. Its run writes
 * what comes in pieces to its task, as lines; all else follows from the response as it is kept. So the events
 * are the same, with the same numbers, whoever reads them, when, and at which process.
 * Spec: https://platform.openai.com/docs/guides/background
 */
import { followTask } from '../../../floors/tasks/tasks-floor.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { DeferredStream } from '../../../floors/kept-streams/deferred-stream.ts'
import { isTerminal } from '../../../floors/tasks/task.ts'
import { formatJson, quote } from '../../../kernel/wire/json.ts'
import { EVENT_STREAM, formatEvent } from '../../../kernel/wire/sse.ts'
import { openaiErrorEvent, openaiFailure } from '../openai-errors.ts'
import { publicFailure } from '../../../floors/reply/reply.ts'
import { readResponse, requireResponse, responseNow, responseTask } from './kept-responses.ts'
import { ResponseItems } from './response-items.ts'
import { begunOf } from './response-object.ts'
import type { Dismissal, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Task, Watcher } from '../../../floors/tasks/task.ts'
import type { RunEvent } from '../../../floors/answers/run-event.ts'
import type { ResponseItem } from './response-input.ts'

/** The artifact of a task that has what came in pieces. */
export const PIECES = 'pieces'
const DONE = formatEvent('[DONE]')

/** A piece of text or of reasoning as a line. */
export function pieceLine(of: RunEvent['type'], delta: string): string {
  return `${of === 'piece' ? 't' : 'r'}${quote(delta)}\n`
}

/** The owner's response `id` as events, behind the one numbered `after`. Rejects with a `Fault`. */
export async function streamResponse(
  service: Service, owner: string, id: string, after: number, requestId: string,
): Promise<Reply> {
  const { response } = await requireResponse(service, owner, id)
  const task = await responseTask(service, owner, id)
  const reading = new ResponseReading(service, owner, response, task, after, requestId)
  reading.begin(response, task)
  return { status: 200, type: EVENT_STREAM, body: reading.stream }
}

class ResponseReading {
  readonly stream: DeferredStream
  readonly #service: Service
  readonly #owner: string
  readonly #id: string
  readonly #items: ResponseItems
  readonly #after: number
  /** Events up to this number are not sent. */
  #unsent: number
  #number = 0
  /** Characters of the lines that were read. */
  #readLength = 0
  #leave: (() => void) | undefined
  #isOver = false

  constructor(
    service: Service, owner: string, response: ResponseItem, task: Task | undefined, after: number,
    requestId: string,
  ) {
    this.#service = service
    this.#owner = owner
    this.#id = String(response['id'])
    this.#after = after
    // Without its task the pieces are not known: who has read some gets the end alone, which has it all.
    this.#unsent = task === undefined && after >= 0 ? Infinity : after
    this.stream = new DeferredStream(() => this.#stop(), (why) => this.#dismissal(why, requestId))
    this.#items = new ResponseItems(this.#id, this.#send.bind(this))
  }

  begin(response: ResponseItem, task: Task | undefined): void {
    const begun = `"response":${formatJson(begunOf(response))}}`
    this.#send('response.created', begun)
    this.#send('response.in_progress', begun)
    const isRunning = response['status'] === 'in_progress' && task !== undefined
    if (isRunning && !isTerminal(task.status.state)) return this.#follow(task)
    if (task !== undefined) this.#readAll(task)
    void this.#end()
  }

  #follow(task: Task): void {
    const begin = (now: Task): void => {
      this.#readAll(now)
      if (isTerminal(now.status.state)) void this.#end()
    }
    const watcher: Watcher = (event) => {
      if (event.what === 'artifact' && event.artifact.id === PIECES) {
        const [part] = event.artifact.parts
        if (part?.type === 'text' && !this.#read(part.text)) return this.stream.ready()
      }
      if (event.what === 'status' && isTerminal(event.status.state)) void this.#end()
      // The server closes: the client asks again for what follows.
      if (event.what === 'forgotten') this.#close('')
      return undefined
    }
    this.#leave = followTask(this.#service, task, begin, watcher)
    // It may be over at once.
    if (this.#isOver) this.#leave()
  }

  /** What has not been read yet of the pieces of a task. */
  #readAll({ artifacts }: Task): void {
    const [part] = artifacts.find(({ id }) => id === PIECES)?.parts ?? []
    if (part?.type === 'text') this.#read(part.text.slice(this.#readLength))
  }

  /** False: the reader is behind. */
  #read(lines: string): boolean {
    this.#readLength += lines.length
    let hasRoom = true
    for (const line of lines.split('\n')) {
      if (line === '') continue
      const delta = String(JSON.parse(line.slice(1)))
      if (line.startsWith('r')) this.#items.reason(delta)
      else hasRoom = this.#items.say(delta)
    }
    return hasRoom
  }

  /** Sends what is left, and the end. Never rejects. */
  async #end(): Promise<void> {
    if (this.#isOver) return
    this.#stop()
    try {
      const kept = await readResponse(this.#service, this.#owner, this.#id)
      if (kept === undefined) return this.#close(DONE)
      const response = await responseNow(this.#service, this.#owner, this.#id, kept)
      this.#sendEnd(response)
    } catch {
      // The store does not answer: the client asks again.
      this.#close('')
    }
  }

  #sendEnd(response: ResponseItem): void {
    const { status, output, error } = response
    if (status === 'completed' && Array.isArray(output)) this.#items.finish(output.filter(isRecord))
    if (this.#unsent === Infinity) {
      this.#unsent = this.#after
      this.#number = this.#after + 1
    }
    if (status === 'failed' && isRecord(error)) {
      const [code, message] = [String(error['code']), String(error['message'])]
      this.#send('error', openaiErrorEvent({ code, message }))
    }
    // There is no event for one that was cancelled.
    const end = status === 'completed' || status === 'failed' ? status : 'incomplete'
    this.#send(`response.${end}`, `"response":${formatJson(response)}}`)
    this.#close(DONE)
  }

  #send(type: string, rest: string): boolean {
    const number = this.#number++
    if (number <= this.#unsent) return true
    return this.stream.write(formatEvent(`{"type":"${type}","sequence_number":${number},${rest}`, type))
  }

  #dismissal({ kind, message }: Dismissal, requestId: string): string {
    const failure = publicFailure(this.#service, new Fault(kind, message), requestId)
    const members = openaiErrorEvent(openaiFailure(failure))
    return formatEvent(`{"type":"error","sequence_number":${this.#number},${members}`, 'error') + DONE
  }

  #close(text: string): void {
    this.#stop()
    this.stream.end(text)
  }

  #stop(): void {
    this.#isOver = true
    this.#leave?.()
    this.#leave = undefined
  }
}
