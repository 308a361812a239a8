/** Requests that wait behind others of their connection. No test itself. */
import { createServer } from 'node:http'
import { portOf } from '../../fixtures/listening.ts'
import { listen, serve } from '../../fixtures/kernel.ts'
import type { TestContext } from 'node:test'
import type { ProbeOptions } from '../../fixtures/kernel.ts'

export function post(query: string, more = ''): string {
  const body = JSON.stringify({ query })
  return `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}`
    + `Content-Length: ${body.length}\r\n\r\n${body}`
}

/** An agent that answers when it is told to, and what it was asked. */
export function patient(): {
  readonly asked: string[]
  release(): void
  run(prompt: string): Promise<string>
} {
  const asked: string[] = []
  const waiting: (() => void)[] = []
  return {
    asked,
    release() { waiting.shift()?.() },
    run(prompt) {
      asked.push(prompt)
      return new Promise((resolve) => waiting.push(() => resolve(`Told ${prompt}`)))
    },
  }
}

/** The same server on a socket of its own, and in a server of somebody else. */
export async function ports(t: TestContext, options: ProbeOptions): Promise<readonly number[]> {
  const { port } = await listen(t, options)
  return [port, await portOf(t, createServer(serve(t, options).handler))]
}
