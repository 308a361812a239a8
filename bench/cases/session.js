/**
 * What opens an MCP session, and what ends it.
 */
import { EVENT_STREAM, JSON_TYPE, posted } from './case.js'

export const REVISION = '2025-06-18'

/** What every client of Streamable HTTP accepts. */
export const BOTH = `${JSON_TYPE}, ${EVENT_STREAM}`

export const handshake = posted({
  path: '/mcp',
  accept: BOTH,
  body: {
    jsonrpc: '2.0', id: 1, method: 'initialize',
    params: { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
  },
})

/** What follows it. */
export const initialized = posted({
  path: '/mcp',
  accept: BOTH,
  headers: { 'MCP-Protocol-Version': REVISION },
  body: { jsonrpc: '2.0', method: 'notifications/initialized' },
})

export const ending = {
  method: 'DELETE', path: '/mcp', headers: { 'Accept': BOTH, 'MCP-Protocol-Version': REVISION },
}
