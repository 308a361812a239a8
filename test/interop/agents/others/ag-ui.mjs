/** The client of AG-UI as an agent: what it asks is elsewhere. Needs `npm ci` here. */
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'
import { bookings, serveAgents } from './elsewhere.mjs'

const skip = missing(import.meta.url, '@ag-ui/client')
const { HttpAgent } = skip ? {} : await import('@ag-ui/client')

const servers = new Map()
const agent = (name) => async (model) => {
  if (!servers.has(model)) servers.set(model, serveAgents(model))
  return new HttpAgent({ agentId: name, url: `${await servers.get(model)}/agents/${name}/agui` })
}

matrix({
  framework: 'AG-UI client', version: versionOf(import.meta.url, '@ag-ui/client'), skip, hidesStatus: true,
  agents: { plain: agent('plain'), tools: agent('tools'), approval: agent('approval'), data: agent('data') },
  booked: () => bookings,
  without: { usage: 'its events have no place for it' },
})

guideProgram(import.meta.url, '@ag-ui/client', { skip, elsewhere: serveAgents })
