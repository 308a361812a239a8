/**
 * Deployments of several processes, on each engine that a store can be made of, and what can happen to them.
 * No test itself.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../start.mjs'
import { noPostgres, noRedis, startPostgres, startRedis } from './servers.mjs'

const member = fileURLToPath(new URL('./member.mjs', import.meta.url))
const node24 = fileURLToPath(new URL('node_modules/node/bin/node', import.meta.url))
const noNode = !existsSync(node24) && 'there is no Node 24: npm ci in test/interop/scale'

/** Begins processes of a deployment, each with a connection of its own to what they share. */
function forks(kind, url, execPath = process.execPath) {
  return {
    async begin(settings) {
      const child = fork(member, [kind, url, JSON.stringify(settings)], { execPath, stdio: 'inherit' })
      const [{ port, pid }] = await once(child, 'message')
      return { port, pid, ended: once(child, 'exit') }
    },
    end() {},
  }
}

/** The same of workers, whose primary holds what they share. */
async function workers(settings) {
  const child = fork(member, ['primary', '', JSON.stringify(settings)], { stdio: 'inherit' })
  await once(child, 'message')
  return {
    async begin() {
      const port = await freePort()
      child.send({ port })
      for (;;) {
        const [message] = await once(child, 'message')
        if (message.port === port) return { ...message, ended: gone(message.pid) }
      }
    },
    async end() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** Resolves when there is no such process any more. */
async function gone(pid) {
  while (existsSync(`/proc/${pid}`)) await sleep(20)
}

function ofServer(name, kind, skip, start) {
  return {
    name, skip,
    async open() {
      const server = await start()
      return { ...forks(kind, server.url), server, close: () => server.close() }
    },
  }
}

/**
 * What processes can share. `open(settings)` begins one: `begin(settings)` a process on it, `server` is what
 * can be stopped and begun again, where it is a program of its own.
 */
export const engines = [
  ofServer('Redis', 'ioredis 5', noRedis, startRedis),
  ofServer('PostgreSQL', 'pg', noPostgres, startPostgres),
  {
    name: 'SQLite', skip: noNode, isOfOneMachine: true,
    async open() {
      const folder = mkdtempSync(join(tmpdir(), 'triport-fleet-'))
      return {
        ...forks('sqlite', join(folder, 'state.db'), node24),
        close: () => rmSync(folder, { recursive: true, force: true }),
      }
    },
  },
  {
    name: 'workers', skip: false, isOfOneMachine: true,
    async open(settings) {
      const primary = await workers(settings)
      return { ...primary, close() {} }
    },
  },
]

/** A sequence between 0 and 1, the same for one seed. */
export function sequence(seed) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

/**
 * So many processes on one engine, and with `hasSpare` one more to take a place. `random` chooses whom
 * something happens to.
 */
export async function startFleet(engine, options = {}) {
  const { count = 3, settings = {}, random = Math.random, hasSpare = false } = options
  const opened = await engine.open(settings)
  const members = await Promise.all(Array.from({ length: count }, () => opened.begin(settings)))
  const anyone = () => Math.floor(random() * members.length)
  const signal = ({ pid }, name) => {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended.
    }
  }
  // Begun before it is needed, so that the fleet is whole again at once.
  let spare = hasSpare ? opened.begin(settings) : undefined
  await spare
  const replace = async (at) => {
    const old = members[at]
    members[at] = await (spare ?? opened.begin(settings))
    if (hasSpare) spare = opened.begin(settings)
    return old
  }
  return {
    members,
    ports: () => members.map(({ port }) => port),
    urls: () => members.map(({ port }) => `http://127.0.0.1:${port}`),
    server: opened.server,
    /** Ends one without a word; another takes its place. */
    async kill(at = anyone()) {
      signal(members[at], 'SIGKILL')
      await replace(at)
    },
    /** Another takes the place of one, which is then ended as an operator would. */
    async restart(at) {
      const old = await replace(at)
      // What was sent to it before has come by then, as balancers wait for it; it answers what comes later.
      await sleep(1_000)
      await (await fetch(`http://127.0.0.1:${old.port}/health`)).text()
      signal(old, 'SIGTERM')
      await old.ended
    },
    /** One does nothing for so long, and goes on. */
    async suspend(ms, at = anyone()) {
      const one = members[at]
      signal(one, 'SIGSTOP')
      await sleep(ms)
      signal(one, 'SIGCONT')
    },
    async close() {
      for (const one of [...members, ...hasSpare ? [await spare] : []]) signal(one, 'SIGKILL')
      await opened.end()
      await opened.close()
    },
  }
}
