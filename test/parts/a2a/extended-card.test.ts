import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test from 'node:test'
import { extendedCard, signedExtendedCard } from '../../../lib/parts/a2a/card/card-replies.ts'
import { A2aFault } from '../../../lib/parts/a2a/model/faults.ts'
import { v03 } from '../../../lib/parts/a2a/codec/v03.ts'
import { v1 } from '../../../lib/parts/a2a/codec/v1.ts'
import { signerOf } from '../../../lib/parts/a2a/model/signature.ts'
import { encodeCard } from '../../../lib/parts/a2a/codec/cards.ts'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { createService } from '../../../lib/kernel/server/service.ts'
import { kernelOptionsOf } from '../../../lib/preset/create-server.ts'
import { decodeV1Card } from '../../fixtures/a2a-client/v1-card.ts'
import { isSignedBy } from '../../fixtures/card-signature.ts'
import type { JsonMembers } from '../../../lib/parts/a2a/model/model.ts'
import type { A2aServerOptions } from '../../../lib/parts/a2a/model/options.ts'
import type { A2aRequest } from '../../../lib/parts/a2a/tasks/request.ts'

const agent = { name: 'Bot', description: 'Helps.', run: () => 'ok' }
const skill = { id: 'buy', name: 'Buy', description: 'Buys.', tags: ['shop'] }

/** A visit of `ann` to the root, or to an agent by its path. */
function visit(options: A2aServerOptions, agentId?: string): A2aRequest {
  const { service } = createService(kernelOptionsOf({
    agents: [agent, { name: 'Muse', run: () => 'ok' }], log: false, authTimeoutMs: 20,
  }))
  const params = new Map(agentId === undefined ? [] : [['agent', agentId]])
  const origin = { principal: { id: 'key:ann', scopes: [] } }
  return {
    context: { service, options: { ...options, takesKeys: () => true } }, dialect: v1,
    agent: agentId === undefined ? service.catalog.root! : service.catalog.runnable(agentId)!,
    exchange: { baseUrl: 'https://a.example', params, origin },
  } as unknown as A2aRequest
}

test('an object says what more every caller may know of the root', async () => {
  const card = await extendedCard(visit({ extendedCard: { description: 'Sells.', skills: [skill] } }))
  assert.equal(card.name, 'Bot')
  assert.equal(card.description, 'Sells.')
  assert.deepEqual(card.skills.map(({ id }) => id), ['chat', 'buy'])
  assert.equal(card.hasExtendedCard, true)
  assert.equal(card.interfaces[0]!.url, 'https://a.example/a2a')
  assert.deepEqual([...card.schemes.keys()], ['apiKey', 'bearer'])
})

test('a function is told who asks, and of whom', async () => {
  const extended: A2aServerOptions['extendedCard'] = ({ id }, who) => ({ description: `${id} of ${who.id}` })
  assert.equal((await extendedCard(visit({ extendedCard: extended }))).description, 'key:ann of bot')
  const later: A2aServerOptions['extendedCard'] = async (...given) => extended(...given)
  const card = await extendedCard(visit({ extendedCard: later }, 'muse'))
  assert.equal(card.description, 'key:ann of muse')
  assert.equal(card.interfaces[0]!.url, 'https://a.example/agents/muse/a2a')
})

const isFault = (reason: string) => (error: unknown): boolean => {
  return error instanceof A2aFault && error.reason === reason
}

test('where no extended card is declared the error is that of the dialect', async () => {
  await assert.rejects(extendedCard(visit({})), isFault('UNSUPPORTED_OPERATION'))
  await assert.rejects(extendedCard(visit({ extendedCard: {} }, 'muse')), isFault('UNSUPPORTED_OPERATION'))
  const reason = 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
  const old = { ...visit({}), dialect: v03 }
  await assert.rejects(extendedCard(old), isFault(reason))
})

test('a caller for whom there is nothing is told so', async () => {
  for (const nothing of [undefined, null]) {
    const reason = 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'
    await assert.rejects(extendedCard(visit({ extendedCard: () => nothing })), isFault(reason))
    const later = visit({ extendedCard: async () => nothing })
    await assert.rejects(extendedCard(later), isFault(reason))
  }
})

test('what is no extended card, and what never comes, is an error of its own', async () => {
  const wrong = { extendedCard: () => ({ skill: [] }) as object }
  await assert.rejects(extendedCard(visit(wrong)),
    /^TypeError: The result of a2a\.extendedCard has no option 'skill'/)
  const never = { extendedCard: () => new Promise<undefined>(() => {}) }
  await assert.rejects(extendedCard(visit(never)), (error: unknown) => {
    return error instanceof Fault && error.kind === 'timeout'
  })
})

test('it is signed where there is a key, as 1.0 writes it', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const given: A2aServerOptions['extendedCard'] = { description: 'Sells.', skills: [skill] }
  const later: A2aServerOptions['extendedCard'] = async () => ({ description: 'Sells.' })
  for (const extended of [given, later]) {
    const asked = visit({ extendedCard: extended })
    const context = { ...asked.context, signer: signerOf(privateKey) }
    const card = await signedExtendedCard({ ...asked, context })
    const written = JSON.parse(JSON.stringify(encodeCard(card, '1.0'))) as JsonMembers
    assert.equal(isSignedBy(written, publicKey), true)
    assert.equal(isSignedBy({ ...written, description: 'Gives.' }, publicKey), false)
    assert.deepEqual(decodeV1Card(written).signatures, card.signatures)
  }
  assert.equal((await signedExtendedCard(visit({ extendedCard: given }))).signatures, undefined)
})
