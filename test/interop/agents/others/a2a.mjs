/** A client of the A2A SDK as an agent: what it asks is elsewhere. Needs `npm ci` here. */
import { randomUUID } from 'node:crypto'
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'
import { bookings, serveAgents } from './elsewhere.mjs'

const skip = missing(import.meta.url, '@a2a-js/sdk')
const { ClientFactory } = skip ? {} : await import('@a2a-js/sdk/client')

const servers = new Map()
const client = (name) => async (model) => {
  if (!servers.has(model)) servers.set(model, serveAgents(model))
  const url = await servers.get(model)
  return new ClientFactory().createFromUrl(`${url}/agents/${name}/.well-known/agent-card.json`, '')
}

const requestFor = (text) => ({
  message: {
    messageId: randomUUID(), role: 1, contextId: '', taskId: '', extensions: [], referenceTaskIds: [],
    parts: [{ content: { $case: 'text', value: text }, mediaType: '', filename: '' }],
  },
})

matrix({
  framework: 'A2A SDK client', version: versionOf(import.meta.url, '@a2a-js/sdk'), skip, hidesStatus: true,
  agents: { plain: client('plain'), approval: client('approval'), data: client('data') },
  booked: () => bookings,
  approval: (approve) => ({ answer: approve ? 'yes' : 'no' }),
  without: { history: 'it takes one message: earlier ones stand in that', usage: 'A2A has no place for it' },
  returns: {
    'sendMessage()': (one, prompt) => one.sendMessage(requestFor(prompt)),
    'sendMessageStream()': (one, prompt) => one.sendMessageStream(requestFor(prompt)),
  },
})

guideProgram(import.meta.url, '@a2a-js/sdk/client', { skip, elsewhere: serveAgents })
