import assert from 'node:assert/strict'
import test from 'node:test'
import { setTable } from '../../lib/cli/edit-toml.ts'

const path = ['mcp_servers', 'shop'] as const
const entry = { command: 'node', args: ['a.js', 'say "hi"'] }
const TABLE = '[mcp_servers.shop]\ncommand = "node"\nargs = ["a.js","say \\"hi\\""]\n'
const OTHER = 'model = "m" # mine\n\n[mcp_servers.b]\ncommand = "x"\n'

const rows: readonly (readonly [before: string, after: string])[] = [
  ['', TABLE],
  ['model = "m"', `model = "m"\n\n${TABLE}`],
  [OTHER, `${OTHER}\n${TABLE}`],
  ['[mcp_servers.shop]\ncommand = "old"\n', TABLE],
  [`[mcp_servers."shop"]\ncommand = "old"\n\n# next\n[b]\nc = 1\n`, `${TABLE}\n# next\n[b]\nc = 1\n`],
  ['[mcp_servers.shop]\nurl = "u"\n[mcp_servers.shop.env]\nA = "1"\n\n[b]\n', `${TABLE}\n[b]\n`],
  ['a = 1\r\n', `a = 1\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}`],
  ['[mcp_servers.shopping]\nurl = "u"\n', `[mcp_servers.shopping]\nurl = "u"\n\n${TABLE}`],
  ['[other.shop]\nurl = "u"\n', `[other.shop]\nurl = "u"\n\n${TABLE}`],
  ['[mcp_servers]\nb = { url = "u" }\n', `[mcp_servers]\nb = { url = "u" }\n\n${TABLE}`],
]

test('a table is set, and all else stays as it is written', () => {
  for (const [before, after] of rows) {
    assert.equal(setTable(before, path, entry), after)
    assert.equal(setTable(after, path, entry), after, 'set again, nothing changes')
  }
})

const refused: readonly (readonly [text: string, sentence: RegExp])[] = [
  ['[mcp_servers]\nshop = { url = "u" }\n', /^'mcp_servers' has 'shop' in a form of its own; take that out /],
  ['mcp_servers.shop.url = "u"\n', /^'mcp_servers' has 'shop' in a form of its own/],
  ['[mcp_servers]\nshop.url = "u"\n', /^'mcp_servers' has 'shop' in a form of its own/],
  ['[mcp_servers.shop.env]\nA = "1"\n', /^'mcp_servers\.shop' has tables, and none of its own; take them /],
]

test('a server that is written in another form is not written twice', () => {
  for (const [text, sentence] of refused) {
    assert.throws(() => setTable(text, path, entry), { message: sentence }, text)
  }
})
