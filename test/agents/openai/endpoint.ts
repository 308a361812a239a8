/** An endpoint that speaks chat completions as it is told to, and an agent to ask it. No test itself. */
import { frameworks } from '../../../lib/adapters/frameworks.ts'
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { openaiAgent } from '../../../lib/agents/openai/openai.ts'
import { answerOf } from '../../../lib/floors/answers/answer.ts'
import { callOf, wordOf } from '../../fixtures/house.ts'
import { portOf } from '../../fixtures/listening.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { LiveCall } from '../../../lib/kernel/define/live-call.ts'
import type { OpenaiOptions } from '../../../lib/agents/openai/openai.ts'
import type { Answer } from '../../../lib/floors/answers/answer.ts'

/** A request as the endpoint got it. */
export interface Received {
  readonly request: IncomingMessage
  readonly body: Readonly<Record<string, unknown>>
}

export interface Endpoint {
  readonly origin: string
  readonly baseUrl: string
  readonly received: Received[]
  /** How many connections were opened. */
  connections: number
  /** Resolves when all connections that were opened are closed. */
  closed(): Promise<void>
}

export type Respond = (response: ServerResponse, received: Received) => void

/** An endpoint that answers as `respond` says. */
export async function endpoint(t: TestContext, respond: Respond): Promise<Endpoint> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const received = { request, body: JSON.parse(body) as Received['body'] }
    made.received.push(received)
    respond(response, received)
  })
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    made.connections++
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  const origin = `http://127.0.0.1:${await portOf(t, server)}`
  const closed = async (): Promise<void> => {
    const closing = [...open].map((socket) => new Promise((resolve) => { socket.on('close', resolve) }))
    await Promise.all(closing)
  }
  const made: Endpoint = { origin, baseUrl: `${origin}/v1`, received: [], connections: 0, closed }
  return made
}

export interface Said { readonly answer: Answer; readonly pieces: readonly string[] }

/** Asks an agent and tells the answer and the pieces in which it came. */
export async function ask(options: OpenaiOptions, prompt = 'hi', call: LiveCall = callOf()): Promise<Said> {
  const pieces: string[] = []
  const output = openaiAgent({ log: false, ...options }).run(prompt, call)
  const answer = await answerOf(output, call, 1e7, frameworks, (piece) => { pieces.push(wordOf(piece)) })
  return { answer, pieces }
}

/** What asking an agent throws. */
export async function faultOf(options: OpenaiOptions): Promise<Fault> {
  const thrown = await ask(options).then(() => undefined, (error: unknown) => error)
  assert.ok(thrown instanceof Fault, `${String(thrown)} is no Fault`)
  return thrown
}

/** An event with text, or with the reason why there is no more. */
export function delta(content: string | null, finish: string | null = null): string {
  return data({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })
}

/** A value as an event. */
export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

export const DONE = 'data: [DONE]\n\n'
export const EVENTS = { 'content-type': 'text/event-stream' }
export const HTML_TYPE = { 'content-type': 'text/html' }
export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

/** An event that asks for calls, each as name and arguments. */
export function calls(...asked: readonly (readonly [name: string, written: string])[]): string {
  const parts = asked.map(([name, written], index) => (
    { index, id: `call-${name}-${index}`, type: 'function', function: { name, arguments: written } }
  ))
  return data({ choices: [{ index: 0, delta: { tool_calls: parts }, finish_reason: 'tool_calls' }] })
}

/** Answers the first request with the first of these, and so on; the last stands for all that follow. */
export function inTurn(...responds: readonly Respond[]): Respond {
  let count = 0
  return (response, received) => responds[Math.min(count++, responds.length - 1)]!(response, received)
}

/** Answers with a stream that is written in one go. */
export function stream(text: string): Respond {
  return (response) => { response.writeHead(200, EVENTS).end(text) }
}

/** Answers with a whole body. */
export function reply(
  status: number, body: string, headers: Readonly<Record<string, string>> = JSON_TYPE,
): Respond {
  return (response) => { response.writeHead(status, headers).end(body) }
}

