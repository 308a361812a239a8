/**
 * The peers: which server each is, which of the cases it can do, and what it is asked otherwise.
 *
 * A peer answers in its own words, so only what the answer says is checked, by the check of the case. It is
 * asked what triport is asked, but for what is said here.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { JSON_TYPE } from './cases/case.js'
import { BOTH } from './cases/session.js'

/** mcp-lite streams to everybody who accepts a stream. */
const asksJson = (one) => ({ ...one, headers: { ...one.headers, Accept: JSON_TYPE } })

/** They stream to who accepts both, or not at all. */
const asksBoth = (one) => ({ ...one, headers: { ...one.headers, Accept: BOTH } })

const atDoor = (door) => (one) => ({ ...one, door })

/** In the words of 0.3, since no SDK takes the plain ones. */
const asMessage = (one) => {
  const body = JSON.parse(one.body)
  const { message } = body.params
  const parts = message.parts.map(({ text }) => ({ kind: 'text', text }))
  body.params.message = { kind: 'message', messageId: 'm1', role: 'user', parts }
  return { ...one, door: 'plain', body: JSON.stringify(body) }
}

const asIs = (one) => one

const plainHttp = { 'post': asIs, 'post-async': asIs, 'tool': asIs, 'health': asIs }

/**
 * `cases`: what turns a case of triport into what the peer is asked, by the name of the case. Not here:
 * @mastra/mcp and mcp-use 2, which do not run on Node 20.
 */
export const peers = [
  {
    name: 'SDK v1, sessions',
    file: 'peers/sdk-v1.js',
    cases: {
      'call': asIs, 'call-async': asIs, 'initialize': asIs, 'call-sse': (one) => asksBoth(atDoor('sse')(one)),
      'pair': atDoor('pair'),
    },
  },
  {
    name: 'SDK v1',
    file: 'peers/sdk-v1.js',
    cases: {
      'call-stateless': atDoor('stateless'), 'list': atDoor('stateless'), 'text-1mb': atDoor('stateless'),
      'rows-1mb': atDoor('stateless'),
    },
  },
  {
    name: 'SDK v2',
    file: 'peers/sdk-v2.js',
    cases: {
      'call-2026': asIs, 'call-stateless': asIs, 'list': asIs, 'text-1mb': asIs, 'rows-1mb': asIs,
    },
  },
  {
    name: 'fastmcp',
    file: 'peers/fastmcp.js',
    cases: {
      'call': asIs, 'call-async': asIs, 'initialize': asIs, 'call-stateless': atDoor('stateless'),
      'list': atDoor('stateless'), 'text-1mb': atDoor('stateless'), 'rows-1mb': atDoor('stateless'),
    },
  },
  {
    name: 'mcp-lite',
    file: 'peers/mcp-lite.js',
    cases: {
      'call': asksJson, 'call-async': asksJson, 'initialize': asksJson, 'call-sse': asIs,
      'call-stateless': (one) => asksJson(atDoor('stateless')(one)),
      'list': (one) => asksJson(atDoor('stateless')(one)),
      'text-1mb': (one) => asksJson(atDoor('stateless')(one)),
      'rows-1mb': (one) => asksJson(atDoor('stateless')(one)),
    },
  },
  {
    name: 'tmcp',
    file: 'peers/tmcp.js',
    cases: {
      'call': asIs, 'call-async': asIs, 'initialize': asIs, 'call-sse': asksBoth, 'call-2026': asIs,
      'call-stateless': asIs, 'list': asIs, 'text-1mb': asIs, 'rows-1mb': asIs,
      // It takes a message without a word.
      'pair': (one) => ({ ...one, door: 'pair', check() {} }),
    },
  },
  {
    name: '@hono/mcp',
    file: 'peers/hono-mcp.js',
    cases: {
      'call': asIs, 'call-async': asIs, 'initialize': asIs, 'call-stateless': atDoor('stateless'),
      'list': atDoor('stateless'), 'text-1mb': atDoor('stateless'), 'rows-1mb': atDoor('stateless'),
    },
  },
  {
    name: 'mcp-handler',
    file: 'peers/mcp-handler.js',
    cases: {
      'call-2026': asIs, 'call-stateless': asIs, 'list': asIs, 'text-1mb': asIs, 'rows-1mb': asIs,
    },
  },
  {
    name: 'mcp-use 1',
    file: 'peers/mcp-use.js',
    cases: {
      'call': asIs, 'call-async': asIs, 'initialize': asIs, 'call-stateless': atDoor('stateless'),
      'list': atDoor('stateless'), 'text-1mb': atDoor('stateless'), 'rows-1mb': atDoor('stateless'),
    },
  },
  {
    name: 'a2a-js',
    file: 'peers/a2a-js.js',
    cases: {
      'a2a-plain': asMessage, 'a2a-send-0.3': asIs, 'a2a-send-1.0': asIs, 'a2a-stream-0.3': asIs,
      'a2a-stream-1.0': asIs, 'a2a-ready': asIs,
    },
  },
  { name: 'fastify', file: 'peers/fastify.js', cases: plainHttp },
  { name: 'h3', file: 'peers/h3.js', cases: plainHttp },
  { name: 'hono', file: 'peers/hono.js', cases: plainHttp },
  { name: 'express', file: 'peers/express.js', cases: plainHttp },
]

/** Installs the peers, once. */
export function installPeers() {
  const cwd = fileURLToPath(new URL('peers/', import.meta.url))
  if (existsSync(`${cwd}node_modules`)) return
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error('The peers cannot be installed')
}

/** Gives a started peer its cases, in its own words. */
export function askedOf(peer, cases) {
  return new Map(cases
    .filter(({ name }) => Object.hasOwn(peer.cases, name))
    .map((one) => [one.name, peer.cases[one.name](one)]))
}
