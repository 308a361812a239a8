import assert from 'node:assert/strict'
import test from 'node:test'
import { hostEntry, mcpHosts, tomlTable } from '../../../lib/floors/hosts/mcp-hosts.ts'

const process = { command: 'node', args: ['cli.js', 'serve', 'a.js', '--stdio'] }
const address = { url: 'https://a.example/mcp', keyVariable: 'SHOP_KEY' }

/** What each host reads for an address whose key is in a variable. */
const addresses: Readonly<Record<string, object | undefined>> = {
  'claude': undefined,
  'claude-code': { type: 'http', url: address.url, headers: { Authorization: 'Bearer ${SHOP_KEY}' } },
  'cursor': { url: address.url, headers: { Authorization: 'Bearer ${env:SHOP_KEY}' } },
  'vscode': { type: 'http', url: address.url, headers: { Authorization: 'Bearer ${env:SHOP_KEY}' } },
  'windsurf': { serverUrl: address.url, headers: { Authorization: 'Bearer ${env:SHOP_KEY}' } },
  'zed': { url: address.url },
  'gemini': { httpUrl: address.url, headers: { Authorization: 'Bearer ${SHOP_KEY}' } },
  'codex': { url: address.url, bearer_token_env_var: 'SHOP_KEY' },
  'zed-agent': undefined,
  'jetbrains': undefined,
}

const types = new Map([['vscode', 'stdio'], ['claude-code', 'stdio'], ['zed-agent', 'custom']])

test('each host has its own form of an address and of a process', () => {
  assert.deepEqual(mcpHosts.map(({ id }) => id), Object.keys(addresses))
  for (const host of mcpHosts) {
    assert.deepEqual(hostEntry(host, address), addresses[host.id], host.id)
    const { type, ...started } = hostEntry(host, process) ?? {}
    assert.deepEqual(started, process)
    assert.equal(type, types.get(host.id))
    const { headers, bearer_token_env_var: variable } = hostEntry(host, { url: 'http://a/' }) ?? {}
    assert.deepEqual([headers, variable], [undefined, undefined], 'without a key there is no header')
    for (const path of Object.values(host.files)) assert.match(path, /^(?:~|%APPDATA%|\.)[\w ./-]+$/)
  }
})

test('an entry is written as a table of TOML', () => {
  assert.equal(tomlTable('mcp_servers.shop', { url: address.url, args: ['a', '"'] }),
    '[mcp_servers.shop]\nurl = "https://a.example/mcp"\nargs = ["a","\\""]\n')
})
