/**
 * Plain queries in conversations, each under an `Idempotency-Key`, while processes are killed, and suspended
 * for longer than their lease: what was answered is remembered, what was asked under one key takes effect
 * once at most, and whoever asks again until there is an answer gets one. `FLEET_SECONDS=60` does that for so
 * long, `FLEET_SEED` chooses whom something happens to, `FLEET_TELL=1` tells of all that was refused.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBalancer } from './balancer.mjs'
import { engines, sequence, startFleet } from './deployment.mjs'

const SECONDS = Number(process.env.FLEET_SECONDS ?? 6)
const SEED = Number(process.env.FLEET_SEED ?? 1)
const LEASE_MS = 2_000
const CLIENTS = 30
/** Whoever has not been answered by then never will be. */
const PATIENCE_MS = 20_000

/** One attempt; a status of 0 is one that was cut. */
async function attempt(url, body, key) {
  try {
    const response = await fetch(url, {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(body), signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const said = await response.json()
    return { status: response.status, said, mayAskAgain: response.headers.has('retry-after') }
  } catch (error) {
    const status = error.name === 'TimeoutError' ? -1 : 0
    return { status, said: { detail: error.message }, mayAskAgain: true }
  }
}

/** Asks until there is an answer that asking again does not change. */
async function ask(url, body, key, told) {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const outcome = await attempt(url, body, key)
    if (outcome.status !== 200) {
      told[outcome.status] = (told[outcome.status] ?? 0) + 1
      if (process.env.FLEET_TELL) console.log(`# ${outcome.status}: ${outcome.said.detail}`)
    }
    if (!outcome.mayAskAgain || performance.now() > until) return outcome
    await sleep(100)
  }
}

async function run(engine) {
  const told = {
    answered: 0, unknown: 0, silent: 0, strange: 0, twice: 0, missing: 0, forgotten: 0, blows: 0,
  }
  const folder = mkdtempSync(join(tmpdir(), 'triport-queries-'))
  const effects = join(folder, 'effects')
  writeFileSync(effects, '')
  const random = sequence(SEED)
  const fleet = await startFleet(engine, {
    random, hasSpare: true, settings: { leaseMs: LEASE_MS, effects },
  })
  const balancer = await startBalancer(fleet.ports)
  const statuses = {}
  const answered = new Set()
  let isOver = false
  const client = async (number) => {
    const session_id = `conversation-${number}`
    let known = 0
    let doubtful = 0
    const turn = async (query, key) => {
      const outcome = await ask(balancer.url, { query, session_id }, key, statuses)
      if (outcome.status === 200) known += 1
      else doubtful += 1
      if (outcome.status === -1 || (outcome.status !== 200 && outcome.mayAskAgain)) told.silent += 1
      else if (outcome.status === 409) told.unknown += 1
      else if (outcome.status !== 200) {
        told.strange += 1
        console.log(`# strange: ${outcome.status} ${outcome.said.detail}`)
      }
      return outcome
    }
    for (let at = 0; !isOver; at++) {
      const name = `query-${number}-${at}`
      const { status, said } = await turn(`work ${name} ${20 + 60 * random()}`, name)
      if (status !== 200) continue
      told.answered += 1
      answered.add(name)
      if (said.response !== `done ${name}`) told.strange += 1
    }
    const before = known
    const { status, said } = await turn('history', `history-${number}`)
    // Each turn that was answered has left its two messages, and one that is not known may have.
    const kept = Math.min(100, 2 * before)
    if (status === 200 && (Number(said.response) < kept || Number(said.response) > 2 * (before + doubtful))) {
      told.forgotten += 1
      console.log(`# forgotten: ${said.response} of ${kept}, ${doubtful} are not known`)
    }
  }
  try {
    const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
    const end = performance.now() + SECONDS * 1_000
    while (performance.now() < end) {
      await sleep(1_000)
      await (random() < 0.7 ? fleet.kill() : fleet.suspend(LEASE_MS + 1_000))
      told.blows += 1
    }
    isOver = true
    await Promise.all(clients)
    const ran = new Map()
    for (const name of readFileSync(effects, 'utf8').split('\n')) ran.set(name, (ran.get(name) ?? 0) + 1)
    for (const [name, count] of ran) if (name !== '' && count > 1) told.twice += 1
    for (const name of answered) if (!ran.has(name)) told.missing += 1
  } finally {
    isOver = true
    balancer.close()
    await fleet.close()
    rmSync(folder, { recursive: true })
  }
  console.log(`# ${engine.name}, seed ${SEED}: ${JSON.stringify(told)}, refused: ${JSON.stringify(statuses)}`)
  return told
}

for (const engine of engines) {
  const skip = engine.skip || (process.env.FLEET_SECONDS === undefined && engine.isOfOneMachine === true
    && 'left to FLEET_SECONDS')
  test(`what is asked under a key takes effect once, and is known: ${engine.name}`, { skip }, async () => {
    const { answered, silent, strange, twice, missing, forgotten } = await run(engine)
    assert.deepEqual([silent, strange, twice, missing, forgotten], [0, 0, 0, 0, 0])
    assert.ok(answered > 0)
  })
}
